"""Baselines of benchmarks: the same work done in the barest way."""
