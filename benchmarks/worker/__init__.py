"""Benchmarks of what workers and the store do: learning, consolidating, selecting, moving."""
