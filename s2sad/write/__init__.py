"""Write: a tree becomes formatted text, and text becomes a callable."""
