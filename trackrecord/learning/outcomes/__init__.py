"""Scoring one outcome, and the recorded rules of scores."""
