"""Prompt: a preview for a task, and why each line is in or out.

Looking at it hands nothing out: nothing is recorded, so that nothing is measured by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from trackrecord.errors import InvalidRequest
from trackrecord.prompt.question.question import LONGEST_TASK_ID
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.declaration.checks import optional_text_of
from trackrecord.resources.reports.run_exposures import kind_of

from ..answering import PageView
from ..requests.page_request import PageRequest
from .entries import link_to_entry

if TYPE_CHECKING:
    from trackrecord.prompt.answers.rankings_answer import Rankings
    from trackrecord.prompt.answers.why import Why

MOST_BUDGET: Final = 4000
_LONGEST_TASK: Final = 4000
_MOST_CONDITIONS: Final = 50
_NAMES: Final[Mapping[str, str]] = {
    "anti_patterns": "Warnings",
    "failing": "Procedures that fail",
    "competences": "Competence records",
}


@dataclass(frozen=True)
class PromptLine:
    """One line, in or out.

    Attributes:
        why: what became of it, and why.
        section: what people call its section.
        link: to its own page; None where it has none.
    """

    why: Why
    section: str
    link: str | None


def shown(asked: PageRequest) -> PageView:
    """Show a preview of the prompt."""
    settings = asked.service.settings
    task = optional_text_of("task", asked.query.get("task") or None)
    budget = _budget(asked, settings.context.learnt_tokens or MOST_BUDGET)
    answer = _answer(asked, task, budget)
    values = {
        "answer": answer,
        "task": (task or "")[:_LONGEST_TASK],
        "budget": budget,
        "most": MOST_BUDGET,
        "lines_in": [_line(asked, each) for each in answer.why if each.is_in],
        "lines_out": [_line(asked, each) for each in answer.why if not each.is_in],
    }
    return PageView("prompt.html", "What an agent would get", values)


def _answer(asked: PageRequest, task: str | None, budget: int) -> Rankings:
    conditions = _conditions(asked.query.get("conditions", ""))
    task = None if task is None else task[:_LONGEST_TASK]
    answer = asked.service.reader.read(
        project=asked.project,
        task=task,
        budget=budget,
        task_id=_task_id(asked),
        conditions=conditions,
    )
    if answer.age_s is None:
        # Nothing was computed: because nothing is on record, or not yet.
        with asked.reading() as connection:
            project_row(connection, asked.project)
    return answer


def _task_id(asked: PageRequest) -> str | None:
    given = asked.text("task_id")
    if given is not None and len(given) > LONGEST_TASK_ID:
        message = f"a task's id has at most {LONGEST_TASK_ID} characters"
        raise InvalidRequest(message)
    return given


def _budget(asked: PageRequest, usual: int) -> int:
    given = asked.text("budget")
    if given is None:
        return usual
    most_digits = 6
    if not (given.isascii() and given.isdecimal() and len(given) <= most_digits):
        message = f"a budget is a whole number of tokens, {given!r:.40} is not"
        raise InvalidRequest(message)
    return min(int(given), MOST_BUDGET)


def _conditions(text: str) -> dict[str, str] | None:
    """Return the typed conditions, one `name=value` in each line; None for none."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if not line.strip():
            continue
        if not (name.strip() and value.strip()) or len(found) == _MOST_CONDITIONS:
            message = f"a condition is a line such as os=linux, {line!r:.80} is not"
            raise InvalidRequest(message)
        found[name.strip()] = value.strip()
    return found or None


def _line(asked: PageRequest, why: Why) -> PromptLine:
    kind, some_id = kind_of(why.id)
    return PromptLine(why, _name(why.section), link_to_entry(asked, kind, some_id))


def _name(field: str) -> str:
    return _NAMES.get(field, field.replace("_", " ").capitalize())
