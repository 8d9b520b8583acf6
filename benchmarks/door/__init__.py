"""Benchmarks of what is asked and posted over HTTP."""
