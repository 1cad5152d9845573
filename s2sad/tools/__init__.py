"""Tools for users: checking derivatives, looking at them, and bridges to other libraries."""
