"""How one outcome is scored, and under which recorded rules."""
