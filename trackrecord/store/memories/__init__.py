"""Memories and past tasks on record."""
