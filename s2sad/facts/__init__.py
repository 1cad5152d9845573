"""The room of facts: what is true about a function. Nothing here changes the program."""
