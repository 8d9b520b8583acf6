"""What was learnt: patterns, lessons, criteria, memories and procedures."""
