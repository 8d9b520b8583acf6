"""The call for rankings that agents make at prompt time; its exposure is recorded.

With a task id that is an exposure. Without one it is only said which memories were handed out, so
that they stay fresh: once a day for each memory. Both go the way of an outcome, and the answer does
not wait for them: a bounded queue, a background thread, Redis or the spool.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from hashlib import blake2b
from typing import Final, ParamSpec, Protocol, TypeVar

import msgspec

from trackrecord.prompt.reading import client
from trackrecord.prompt.reading.client import given_readers
from trackrecord.wire.exposure import ExposureBody, encode_exposure
from trackrecord.wire.hint import HintBody, encode_hint
from trackrecord.wire.kinds import Kind
from trackrecord.wire.recall import MAX_MEMORIES, RecallBody, encode_recall

from ..delivery.diversion import current_diversion
from ..delivery.ids import new_id
from ..publishing.publish import publish_report

_DAY_S: Final = 86_400
# What is forgotten is reported once more, which does no harm.
_MOST_REMEMBERED: Final = 10_000


class _RecalledToday:
    """The memories that this process has reported today; a forked child continues the set."""

    def __init__(self) -> None:
        self._day = 0
        self._seen: set[tuple[str, str]] = set()

    def new(self, project: str, memories: Iterable[str]) -> list[str]:
        """Return the memories that were not yet recalled today, and note that they are now."""
        today = int(time.time() // _DAY_S)
        if today != self._day or len(self._seen) > _MOST_REMEMBERED:
            # Not cleared: another thread may be reading it.
            self._day, self._seen = today, set()
        found = [name for name in memories if (project, name) not in self._seen]
        self._seen.update((project, name) for name in found)
        return found


_recalled_today: Final = _RecalledToday()


class _Answer(Protocol):
    @property
    def project(self) -> str: ...

    @property
    def memory_ids(self) -> tuple[str, ...]: ...

    @property
    def exposure(self) -> ExposureBody | None: ...


_P = ParamSpec("_P")
_A = TypeVar("_A", bound=_Answer)


def recorded(ask: Callable[_P, _A]) -> Callable[_P, _A]:
    """Return a question whose answers are recorded if they are about a task."""

    @wraps(ask)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _A:
        answer = ask(*args, **kwargs)
        if answer.exposure is not None:
            publish_exposure(answer.exposure)
        if answer.memory_ids:
            _report_recalls(answer)
        return answer

    return asked


def publish_exposure(exposure: ExposureBody) -> str | None:
    """Publish a task's exposure in the background: never raises, never waits.

    Returns:
        Its id, or None if it was dropped; `dropped` counts why. Also None where a test's own
        rankings were read and nothing captures reports.
    """
    exposure_id = exposure.exposure_id or new_id()
    named = msgspec.structs.replace(exposure, exposure_id=exposure_id)
    return exposure_id if _publish("exposure", lambda: encode_exposure(named)) else None


def publish_hint(hint: HintBody) -> str | None:
    """Publish a hint, given or not, in the background: never raises, never waits.

    One entry of a session and agent has one id: what is decided again after a restart counts once.

    Returns:
        Its id, or None if it was dropped; `dropped` counts why.
    """
    parts = (hint.project, hint.session, hint.agent, hint.entry)
    whole = "\0".join(parts).encode(errors="replace")
    hint_id = hint.hint_id or blake2b(whole, digest_size=16).hexdigest()
    named = msgspec.structs.replace(hint, hint_id=hint_id)
    return hint_id if _publish("hint", lambda: encode_hint(named)) else None


def _publish(kind: Kind, encode: Callable[[], bytes]) -> bool:
    if given_readers.get() is not None and current_diversion() is None:
        return False
    return publish_report(kind, encode)


def _report_recalls(answer: _Answer) -> None:
    """Report recalled memories, each once a day: never raises."""
    diversion = current_diversion()
    if diversion is not None:
        # A test is told of all.
        names = list(answer.memory_ids)
    elif given_readers.get() is not None:
        return
    else:
        names = _recalled_today.new(answer.project, answer.memory_ids)
    if names and answer.exposure is None:  # an exposure has said it
        publish_recall(answer.project, names)


def publish_recall(project: str, memories: Sequence[str]) -> None:
    """Publish recalled memories in the background: never raises, never waits."""
    now = time.time()
    # A body of the default project says so by its silence, which is not that of the settings.
    for start in range(0, len(memories), MAX_MEMORIES):
        part = tuple(memories[start : start + MAX_MEMORIES])
        recall = RecallBody(memories=part, project=project, at=now)
        publish_report("recall", partial(encode_recall, recall))


rankings = recorded(client.rankings)
