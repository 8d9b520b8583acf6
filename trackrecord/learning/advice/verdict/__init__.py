"""Estimate how probably a run succeeded, after the fact and without being told."""
