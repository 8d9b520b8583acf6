"""Processes: their folders, forks, threads and logs, and how they start Python."""
