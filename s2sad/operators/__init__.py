"""The room of operators: arguments are bound, derivations kept and shared, results handed back."""
