"""Signatures, episodes and competence records."""
