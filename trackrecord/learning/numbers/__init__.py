"""Arithmetic that every subject shares: decay, checks, shares, counterfactuals."""
