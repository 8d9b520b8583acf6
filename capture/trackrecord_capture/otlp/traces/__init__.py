"""Traces, kept on disk until they are whole, and then published."""
