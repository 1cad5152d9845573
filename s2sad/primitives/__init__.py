"""Records of what a program may call: all that a pass may know of an operation."""
