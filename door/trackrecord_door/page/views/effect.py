"""The page of the effect of advice: tasks with it and without it, and single entries."""

from types import SimpleNamespace
from typing import Final

from trackrecord.changes import effect as changes
from trackrecord.learning.advice.effect.texts import (
    VERDICTS,
    conclusion,
    difference_text,
    interval_text,
    mean_text,
)
from trackrecord.queries.effect import measure_effect
from trackrecord.queries.sorting import EFFECT_ENTRIES

from ..answering import ConfirmedAction, PageView
from ..forms import Form
from ..listing import listed
from ..page_request import PageRequest

_PATH: Final = "/effect"
_WORDS: Final = SimpleNamespace(
    mean=mean_text, difference=difference_text, interval=interval_text, verdicts=VERDICTS
)


def shown(asked: PageRequest) -> PageView:
    """Show whether advice helps."""
    with asked.reading() as connection:
        effect = measure_effect(
            connection, asked.project, setting=asked.service.settings.holdout, at=asked.at
        )
    decided = effect.decisions
    values = {
        "effect": effect,
        "conclusion": conclusion(effect.report),
        "words": _WORDS,
        "kinds": effect.report.kinds or {},
        "listing": listed(
            asked,
            effect.report.entries,
            keys=EFFECT_ENTRIES.keys,
            text=lambda each: each.entry,
        ),
        "withdrawn": {name: decided.entries[name] for name in decided.withdrawn},
    }
    return PageView("effect.html", "Effect", values)


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
