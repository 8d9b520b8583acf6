"""The worker: a Celery app whose tasks drain the stream and keep the rankings true."""
