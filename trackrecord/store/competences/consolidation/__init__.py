"""Runs of consolidation: one at a time, each with its report."""
