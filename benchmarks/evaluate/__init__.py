"""Compare advice with recorded runs and sessions."""
