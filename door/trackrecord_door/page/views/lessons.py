"""Lessons from the calls of tools: the list, one with the runs behind it, and dismissing it."""

from collections.abc import Callable

from trackrecord.learning.advice.lessons.lesson import LessonKind, LessonState
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.lessons import (
    LESSONS,
    LessonChange,
    LessonDecisionAnswer,
    details_of,
    dismiss_lesson,
    lessons_of,
    restore_lesson,
)
from trackrecord.resources.experience.rates_over_time import Rates
from trackrecord.resources.experience.sourced_lessons import (
    is_quickly_counted,
    lesson_strength_over_time,
)

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import HistoryEvent, RunBehind, points, sentences

_PATH = "/lessons"
_KINDS = [
    (LessonKind.FAILS, "a tool fails"),
    (LessonKind.NEVER_SUCCEEDS, "never succeeds"),
    (LessonKind.NEEDS_FIRST, "needs another call first"),
    (LessonKind.GOES_WITH_SUCCESS, "goes with success"),
    (LessonKind.THEN_WORKS, "works afterwards"),
]
_DISMISSED = "dismissed"


def shown(asked: PageRequest) -> PageView:
    """Show the lessons of a project."""
    state = asked.text("state")
    with read_project(asked.project, asked.at) as it:
        found = lessons_of(
            it,
            tool=asked.text("tool"),
            kind=asked.text("kind"),
            state=None if state in ("all", _DISMISSED) else state,
            everything=state in ("all", _DISMISSED),
            source=asked.text("source"),
            content=asked.text("q"),
        )
    if state == _DISMISSED:
        found = [lesson for lesson in found if lesson.dismissed]
    keys = LESSONS.sorting("list").keys
    values = {
        "listing": listed(asked, found, keys=keys, text=lambda each: each.id, search=False),
        "kinds": _KINDS,
        "words_of_kind": dict(_KINDS),
        "states": [
            *((each.value, each.value) for each in (LessonState.ESTABLISHED, LessonState.SEEN)),
            ("faded", "faded"),
            (_DISMISSED, _DISMISSED),
            ("all", "all, also faded and dismissed"),
        ],
    }
    return PageView("lists/lessons.html", "Lessons", values)


def entry(asked: PageRequest) -> PageView:
    """Show one lesson."""
    with read_project(asked.project, asked.at) as it:
        lesson = details_of(it, asked.named["lesson"])
        rates: Rates | None = None
        if asked.text("over_time") or is_quickly_counted(it.connection, it.project):
            rates = lesson_strength_over_time(
                it.connection, it.settings, it.project, lesson.id, at=it.at
            )
    values = {
        "lesson": lesson,
        "kind": dict(_KINDS)[lesson.kind],
        "also": sentences(lesson.also),
        "rates": None if rates is None else points(rates),
        "history": [*map(happening, reversed(lesson.history))],
        "runs": [
            RunBehind(each.outcome_id, each.task_id, each.ended_at, "", each.success)
            for each in lesson.outcomes
        ],
    }
    return PageView("details/lesson.html", lesson.text, values)


def happening(decision: LessonChange) -> HistoryEvent:
    """Return a decision about a lesson in words."""
    what = _DISMISSED if decision.action == "dismiss" else "restored"
    return HistoryEvent(decision.at, what, decision.by, decision.reason or None)


def dismiss(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Dismiss a lesson."""
    question = "Dismiss this lesson? No prompt shows it until it is restored: {}"
    return _decision(asked, form, dismiss_lesson, question, "Dismiss it")


def restore(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Take back the dismissal of a lesson."""
    question = "Show this lesson in prompts again? {}"
    return _decision(asked, form, restore_lesson, question, "Restore it")


def _decision(
    asked: PageRequest,
    form: Form,
    decide: Callable[..., LessonDecisionAnswer],
    question: str,
    button: str,
) -> ConfirmedAction:
    lesson_id, text = form.text("id"), form.optional("text") or ""

    def do(by: str, reason: str | None) -> str:
        return decide(lesson_id, by=by, reason=reason, project=asked.project).in_words

    return ConfirmedAction(question.format(text), button, do, asked.link_to(_PATH, lesson_id))
