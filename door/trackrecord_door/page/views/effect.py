"""The page of the effect of advice: tasks with it and without it."""

from types import SimpleNamespace
from typing import Final

from trackrecord.learning.advice.effect.comparison import (
    VERDICTS,
    conclusion,
    difference_text,
    interval_text,
    mean_text,
)
from trackrecord.resources.figures import effect as changes
from trackrecord.resources.figures.effect import measure_effect

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.page_request import PageRequest

_PATH: Final = "/effect"
_WORDS: Final = SimpleNamespace(
    mean=mean_text, difference=difference_text, interval=interval_text, verdicts=VERDICTS
)


def shown(asked: PageRequest) -> PageView:
    """Show whether advice helps."""
    with asked.reading() as connection:
        effect = measure_effect(connection, asked.project, setting=asked.service.settings.holdout)
    values = {
        "effect": effect,
        "conclusion": conclusion(effect.report),
        "words": _WORDS,
        "kinds": effect.report.kinds or {},
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


def _sentence(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}."
