"""Metrics for Prometheus, collected when they are asked for."""
