"""The steps that Celery takes when a worker or beat starts and runs; `app` names them."""
