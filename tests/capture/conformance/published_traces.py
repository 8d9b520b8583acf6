"""The outcomes that the buffer of traces publishes for stories told as spans and events."""

from functools import partial
from pathlib import Path
from typing import Any

from tests.capture.conformance.trace_tellers import Told
from trackrecord.settings.daemon_settings import TraceRules
from trackrecord_capture.otlp.encodings.span import Span
from trackrecord_capture.otlp.runs.event_runs import PromptOf, no_prompt
from trackrecord_capture.otlp.traces.opening import TraceBuffer
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.register import tool_words

_RULES = TraceRules(settle_s=3, idle_s=60, keep_s=600)


class Outcomes:
    """A sink that keeps what is published."""

    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []

    def publish(self, fields: dict[str, Any]) -> None:
        self.published.append(fields)

    def settle(self) -> int:
        return 0


def published(
    turns: list[list[Told]], home: Path, prompt_of: PromptOf = no_prompt
) -> list[dict[str, Any]]:
    """Return all that is published of turns which are sent one after the other."""
    now = [1_795_000_100.0]
    outcomes = Outcomes()
    make = partial(outcome_of, tool_words=tool_words())
    buffer = TraceBuffer(
        home / "traces.db", make, outcomes, rules=_RULES, clock=lambda: now[0],
        prompt_of=prompt_of,
    )  # fmt: skip
    for turn in turns:
        buffer.spans([each for each in turn if isinstance(each, Span)])
        buffer.logs([each for each in turn if not isinstance(each, Span)])
        now[0] += 100
        buffer.publish_due()
    buffer.close()
    return outcomes.published
