"""The question for rankings that an agent asks at prompt time; what a task is handed is recorded.

An exposure goes the way of an outcome, and the answer does not wait for it: a bounded queue, a
background thread, Redis or the spool.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

import msgspec

from trackrecord.prompt import client
from trackrecord.prompt.client import given_readers
from trackrecord.wire.exposure import ExposureBody, decode_exposure, encode_exposure

from .diversion import diversion_here
from .entry_format import Waiting
from .ids import new_id
from .publish import accept, count_fault


class _Answer(Protocol):
    @property
    def exposure(self) -> ExposureBody | None: ...


_P = ParamSpec("_P")
_A = TypeVar("_A", bound=_Answer)


def recorded(ask: Callable[_P, _A]) -> Callable[_P, _A]:
    """Return a question whose answers are recorded where they have to do with a task."""

    @wraps(ask)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _A:
        answer = ask(*args, **kwargs)
        if answer.exposure is not None:
            publish_exposure(answer.exposure)
        return answer

    return asked


def publish_exposure(exposure: ExposureBody) -> str | None:
    """Publish what a task was handed, and go on: never raises, never waits.

    Returns:
        Its id, or None if it was dropped; `dropped` counts why. Also None where a test's own
        rankings were read and nothing captures reports.
    """
    if given_readers.get() is not None and diversion_here() is None:
        return None
    try:
        exposure_id = exposure.exposure_id or new_id()
        body = encode_exposure(msgspec.structs.replace(exposure, exposure_id=exposure_id))
        decode_exposure(body)
    except Exception as error:  # noqa: BLE001 - nothing may reach the agent
        count_fault(error)
        return None
    return exposure_id if accept(Waiting(body, names_project=True, kind="exposure")) else None


rankings = recorded(client.rankings)
