"""Estimate the probability that a run succeeded, after the fact and without a report."""
