"""Embeddings: compare tasks and records by meaning, if an endpoint and pgvector are available."""
