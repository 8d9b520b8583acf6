"""The verdict on a run: whether it succeeded, by evidence alone."""
