"""Embeddings: tasks and records compared by meaning, where an endpoint and pgvector are there."""
