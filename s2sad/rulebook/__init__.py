"""What stands behind rules: the forms they have, what follows from them. See registry.py."""
