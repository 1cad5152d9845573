"""Derivatives from program to program: the operations that are linear in tangents, and rules."""
