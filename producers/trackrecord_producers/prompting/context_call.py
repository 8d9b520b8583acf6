"""The call for a whole prompt; its exposure is recorded, as for rankings.

In a module of its own: an agent that asks for rankings alone does not import it.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from trackrecord.prompt.answers.own_task import OwnTask
from trackrecord.prompt.reading import context as context_
from trackrecord.prompt.reading.client import given_readers

from ..attempts.errors_in_flight import known_of
from ..delivery.diversion import current_diversion
from .rankings_call import recorded

_P = ParamSpec("_P")
_A = TypeVar("_A")


def _knowing_errors(ask: Callable[_P, _A]) -> Callable[_P, _A]:
    """Return a question that knows the errors of its task."""

    @wraps(ask)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _A:
        token = context_.reads_errors.set(_own_task)
        try:
            return ask(*args, **kwargs)
        finally:
            context_.reads_errors.reset(token)

    return asked


def _own_task(project: str, task_id: str) -> OwnTask:
    if given_readers.get() is not None and current_diversion() is None:
        # A test gave rankings, and captures no reports: there is no server to ask.
        return OwnTask()
    known = known_of(task_id, project)
    problem = None if known.problem is None else f"the task's errors: {known.problem}"
    return OwnTask(known.task, known.rules, problem=problem)


context = recorded(_knowing_errors(context_.context))
