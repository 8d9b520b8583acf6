"""Prompt time: the cached rankings, chosen under a token budget and rendered as text.

Reads Redis only; needs neither SQLAlchemy nor Celery.
"""
