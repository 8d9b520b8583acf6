"""Benchmarks of what an agent waits for: publishing, prompts, hooks and the start of programs."""
