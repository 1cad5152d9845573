"""Small questions about the text of a program, which every room may ask. See nodes.py."""
