"""Prompt time: the cached rankings and an agent's own candidates, in one text within a budget.

One engine for `rankings()` and `context()`, in this order: `document` (what the worker caches) →
`learnt` (its entries as candidates) → `candidates.rank` → `candidates.select` → `candidates.text`.
The table in `sections` says everything that is to be known of a section; `compose` puts
the steps together, and `rankings_answer` and `context_answer` say what became of it.

Reads Redis only; needs neither SQLAlchemy nor Celery.
"""
