"""Simulated worlds whose truth is known: pure, fast, without a server."""
