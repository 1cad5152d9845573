"""One program, typed and versioned, made of calls of primitives: what stands between two passes."""
