"""Evaluate advice on recorded runs: predictions for left-out runs, and their accuracy."""
