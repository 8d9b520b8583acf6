"""Candidates from the task itself: its errors in flight and its stored outputs.

Nothing of it is learnt, and nothing of it comes from another task. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from trackrecord.inflight.errors import TaskInFlight
from trackrecord.inflight.retry_text import HEADINGS, error_lines, strikes_line
from trackrecord.inflight.rules import ErrorRules
from trackrecord.learning.text.inert import identifier
from trackrecord.learning.text.language import Language, both
from trackrecord.learning.text.redaction import redacted

from ..candidates.candidate import Candidate
from ..candidates.select import Tokenizer
from ..question.question import SectionFilter
from ..question.rules import ERRORS, EVIDENCE

if TYPE_CHECKING:
    from trackrecord.artifacts.output_records import OutputRecord

# Of each, the newest: a prompt is no log.
MOST_ERRORS: Final = 10
MOST_OUTPUTS: Final = 3
_SECTION: Final = "previous_error"
_OUTPUT_OF: Final = both("Output of {}:", "{}的输出:")


class Share(NamedTuple):
    """The share of the budget that candidates may take while others need it.

    Attributes:
        field: what they are included and excluded by.
        share: the part.
    """

    field: str
    share: float

    def of(self, budget: int, room: int) -> Share:
        """Return the own share as a part of the learnt entries' share."""
        return Share(self.field, self.share * budget / room) if room > 0 else self


_OF_ERRORS: Final = Share(ERRORS, 0.25)
_OF_EVIDENCE: Final = Share(EVIDENCE, 0.2)


class TaskCandidate(NamedTuple):
    """A candidate that a task's own record brings.

    Attributes:
        candidate: the candidate.
        share: its part of the budget.
    """

    candidate: Candidate
    share: Share


@dataclass(frozen=True)
class OwnTask:
    """The records of one task.

    Attributes:
        in_flight: its errors and failed attempts.
        rules: how errors are told; None for the usual rules.
        outputs: its stored outputs, newest first.
        problem: why it is not known, None when it is.
    """

    in_flight: TaskInFlight = field(default_factory=TaskInFlight)
    rules: ErrorRules | None = None
    outputs: Sequence[OutputRecord] = ()
    problem: str | None = None


UNKNOWN: Final = OwnTask()


class OwnPart(NamedTuple):
    """An agent's own contribution to its prompt, besides its question.

    Attributes:
        candidates: its candidates.
        task: what is on record of its task.
        tokenizer: its own; None to estimate by characters.
    """

    candidates: Sequence[Candidate] = ()
    task: OwnTask = UNKNOWN
    tokenizer: Tokenizer | None = None


NOTHING_OWN: Final = OwnPart()


def candidates_of(
    task: OwnTask, own: Iterable[Candidate], wanted: SectionFilter, language: Language
) -> tuple[TaskCandidate, ...]:
    """Return a task's unresolved errors and its newest stored outputs as candidates.

    Equal errors are one candidate. Each weighs as much as a failure that the agent hands in, each
    output as much as evidence. What stands in a candidate of the agent's own already is not told
    twice: the text of `error_context`, and an output by its id.

    Args:
        task: what is on record.
        own: the agent's candidates.
        wanted: the sections that are asked for.
        language: of the text.
    """
    texts = [each.text for each in own]
    found: list[TaskCandidate] = []
    if wanted.has(ERRORS) and not _is_told(HEADINGS.values(), texts):
        found += _errors(task, language)
    if wanted.has(EVIDENCE):
        found += _outputs(task, texts, language)
    return tuple(found)


def _is_told(beginnings: Iterable[str], texts: Sequence[str]) -> bool:
    return any(beginning in text for beginning in beginnings for text in texts)


def _errors(task: OwnTask, language: Language) -> Iterator[TaskCandidate]:
    if task.in_flight.strikes >= (task.rules or ErrorRules()).strikes:
        # Before the errors themselves: they are what the next patch would be made for.
        line = strikes_line(task.in_flight.strikes, language)
        yield TaskCandidate(_error("strikes", line, MOST_ERRORS + 1), _OF_ERRORS)
    lines = error_lines(task.in_flight.unresolved, language)
    for place, (error_id, line) in enumerate(lines[-MOST_ERRORS:], start=1):
        yield TaskCandidate(_error(error_id, redacted(line), place), _OF_ERRORS)


def _error(name: str, line: str, priority: int) -> Candidate:
    return Candidate(
        id=f"error:{name}",
        kind="evidence",
        section=_SECTION,
        text=line,
        priority=priority,
        content_type="markdown",
        has_failure=True,
    )


def _outputs(task: OwnTask, texts: Sequence[str], language: Language) -> Iterator[TaskCandidate]:
    by_id = {output.id: output for output in reversed(task.outputs) if output.summary}
    newest = sorted(by_id.values(), key=lambda each: -each.stored_at)[:MOST_OUTPUTS]
    for place, output in enumerate(newest):
        if _is_told((output.id,), texts):
            continue
        tool = identifier(output.tool) if output.tool else ""
        head = f"{_OUTPUT_OF[language].format(tool)}\n" if tool else ""
        candidate = Candidate(
            id=f"artifact:{output.id}",
            kind="evidence",
            text=head + output.summary,
            priority=-place,
            has_evidence=True,
        )
        yield TaskCandidate(candidate, _OF_EVIDENCE)
