"""How each kind of lesson is counted."""
