"""Metrics for Prometheus, collected on each scrape.

A new one is a family in `metric_families` and a row in docs/metrics.md. Its figure comes from
`resources.operation.metrics` (database and Redis), from `trackrecord.redis.fleet_counts` (what
workers count), from `requests`, or from `gathering` itself (disk and this process).
"""
