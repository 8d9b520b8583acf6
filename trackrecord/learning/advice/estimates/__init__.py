"""Estimates: how often something succeeds, and how much of that is its own doing."""
