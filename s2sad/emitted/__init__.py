"""More helpers of derived text, beside runtime.py; their source is copied into emitted files."""
