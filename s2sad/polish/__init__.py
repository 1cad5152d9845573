"""The room of polish: the same program, more readable and faster."""
