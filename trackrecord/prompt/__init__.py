"""Prompt time: the cached rankings and an agent's own candidates, in one text within a budget.

One engine for `rankings()` and `context()`. Each folder imports only those before it:

1. `documents`: what the worker caches of a project, with each entry's line of text.
2. `question`: what is asked for, and the rules.
3. `choosing`: which entries have to do with the task.
4. `candidates`: these and the agent's own in one order, as many as fit the budget, as text. The
   table in `candidates.sections` says everything that is to be known of a section.
5. `answers`: `compose` puts the steps together; `rankings_answer` and `context_answer` say what
   became of it, and `why` says why.
6. `reading`: what an agent calls. The others know neither settings nor servers.

Reads Redis only; needs neither SQLAlchemy nor Celery.
"""
