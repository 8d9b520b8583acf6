"""The page of the effect of advice: tasks with it and without it, and single entries."""

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
from trackrecord.resources.figures.effect import EFFECT_ENTRIES, measure_effect
from trackrecord.resources.reports.run_exposures import kind_of
from trackrecord.store.advice.lesson_runs import runs_by_row

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import RunBehind, link_to_entry

_PATH: Final = "/effect"
_WORDS: Final = SimpleNamespace(
    mean=mean_text, difference=difference_text, interval=interval_text, verdicts=VERDICTS
)


def shown(asked: PageRequest) -> PageView:
    """Show whether advice helps."""
    with asked.reading() as connection:
        effect = measure_effect(connection, asked.project, setting=asked.service.settings.holdout)
        hinted = _runs_with_hints(connection, asked, effect.hints.behind)
    decided = effect.decisions
    values = {
        "effect": effect,
        "conclusion": conclusion(effect.report),
        "words": _WORDS,
        "kinds": effect.report.kinds or {},
        "listing": listed(
            asked,
            effect.entries,
            keys=EFFECT_ENTRIES.keys,
            text=lambda each: each.id,
        ),
        "link_to": lambda entry: link_to_entry(asked, *kind_of(entry)),
        "hinted": hinted,
        "withdrawn": {name: decided.entries[name] for name in decided.withdrawn},
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


def withdraw(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Take an entry out of all advice."""
    entry = form.text("entry")

    def do(by: str, reason: str | None) -> str:
        decision = changes.withdraw_entry(
            asked.service.engine, asked.service.settings, asked.project, entry, by=by, reason=reason
        )
        return _sentence(changes.said_of(asked.project, decision))

    question = (
        f"Take {entry} out of all advice of project {asked.project!r}? It stays on record and can "
        "be restored."
    )
    return ConfirmedAction(question, "Withdraw it", do, asked.link(_PATH))


def restore(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Put an entry into advice again."""
    entry = form.text("entry")

    def do(by: str, reason: str | None) -> str:
        decision = changes.restore_entry(
            asked.service.engine, asked.service.settings, asked.project, entry, by=by, reason=reason
        )
        return _sentence(changes.said_of(asked.project, decision))

    question = (
        f"Hand {entry} out again in project {asked.project!r}? It will not be withdrawn by itself "
        "any more, whatever is measured."
    )
    return ConfirmedAction(question, "Restore it", do, asked.link(_PATH))


def _sentence(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}."
