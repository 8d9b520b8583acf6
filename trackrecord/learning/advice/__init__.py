"""Derive advice from runs: estimates, lessons from tool calls, recommendations and their effect."""
