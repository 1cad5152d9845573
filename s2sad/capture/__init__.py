"""The first room: read, resolve, normalise.

A Python callable comes in; what leaves is the program it stands for, in few statement shapes and
with every called name resolved, each node still knowing its line and column in the user's file.
"""
