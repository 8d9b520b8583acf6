"""Memories: rules, similarity, texts."""
