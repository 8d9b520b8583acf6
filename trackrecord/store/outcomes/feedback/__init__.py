"""Feedback on one thing alone: recorded, listed, summed, and waiting for what it is about."""
