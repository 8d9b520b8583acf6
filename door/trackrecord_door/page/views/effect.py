"""The page of the effect of advice: tasks with it and without it."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.effect.texts import (
    VERDICTS,
    conclusion,
    difference_text,
    interval_text,
    mean_text,
)
from trackrecord.learning.advice.hint_effect import HintedRun
from trackrecord.resources.access.project_rows import project_row
from trackrecord.resources.figures import effect as changes
from trackrecord.resources.figures.effect import measure_effect
from trackrecord.store.advice.lesson_runs import runs_by_row

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.page_request import PageRequest
from .entries import RunBehind

_PATH: Final = "/effect"
_WORDS: Final = SimpleNamespace(
    mean=mean_text, difference=difference_text, interval=interval_text, verdicts=VERDICTS
)


def shown(asked: PageRequest) -> PageView:
    """Show whether advice helps."""
    with asked.reading() as connection:
        effect = measure_effect(connection, asked.project, setting=asked.service.settings.holdout)
        hinted = _runs_with_hints(connection, asked, effect.hints.behind)
    values = {
        "effect": effect,
        "conclusion": conclusion(effect.report),
        "words": _WORDS,
        "kinds": effect.report.kinds or {},
        "hinted": hinted,
    }
    return PageView("effect.html", "Effect", values)


def _runs_with_hints(
    connection: Connection, asked: PageRequest, behind: Sequence[HintedRun]
) -> list[RunBehind]:
    """Return the runs in which hints were left to chance, with the arm of each."""
    row = project_row(connection, asked.project)
    found = runs_by_row(connection, row, [each.outcome for each in behind])
    return [
        RunBehind(
            found[each.outcome].outcome_id,
            found[each.outcome].task_id,
            found[each.outcome].ended_at,
            "told" if each.is_given else "not told",
            found[each.outcome].success,
        )
        for each in behind
        if each.outcome in found
    ]


def hold_out(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Give some tasks no advice, or all tasks advice again."""
    share = form.number("percent") / 100

    def do(by: str, reason: str | None) -> str:
        decision = changes.hold_out(
            asked.service.engine, asked.service.settings, asked.project, share, by=by, reason=reason
        )
        return _sentence(changes.said_of(asked.project, decision))

    question = (
        f"Withhold advice from {100 * share:g}% of the tasks of project {asked.project!r}? They "
        "are drawn by a hash, so that tasks with and without advice can be compared."
        if share
        else f"Give all tasks of project {asked.project!r} advice? Nothing new is measured then."
    )
    return ConfirmedAction(
        question, "Withhold advice" if share else "Give all tasks advice", do, asked.link(_PATH)
    )


def _sentence(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}."
