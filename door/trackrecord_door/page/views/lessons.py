"""Lessons from the calls of tools: the list, one with the runs behind it, and dismissing it."""

from collections.abc import Callable
from typing import Any

from trackrecord.learning.advice.lessons.lesson import LessonKind, LessonState
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.commands import CommandDetails
from trackrecord.resources.experience.lessons import (
    LESSONS,
    LessonDecisionAnswer,
    LessonDetails,
    details_of,
    dismiss_lesson,
    lessons_of,
    restore_lesson,
)

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import HistoryEvent, RunBehind, sentences

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
    with read_project(asked.project) as it:
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
    with read_project(asked.project) as it:
        lesson = details_of(it, asked.named["lesson"])
    values = {
        "lesson": lesson,
        "kind": dict(_KINDS)[lesson.kind],
        "also": sentences(lesson.also),
        **behind(lesson),
    }
    return PageView("details/lesson.html", lesson.text, values)


def behind(shown: LessonDetails | CommandDetails) -> dict[str, Any]:
    """Return the runs behind a lesson or a command, and the decisions about it, newest first."""
    return {
        "history": [
            HistoryEvent(
                each.at,
                _DISMISSED if each.action == "dismiss" else "restored",
                each.by,
                each.reason or None,
            )
            for each in reversed(shown.history)
        ],
        "runs": [
            RunBehind(each.outcome_id, each.task_id, each.ended_at, "", each.success)
            for each in shown.outcomes
        ],
    }


def dismiss(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Dismiss a lesson."""
    question = "Dismiss this lesson? No prompt shows it until it is restored: {}"
    return decision(asked, form, _PATH, dismiss_lesson, question, "Dismiss it")


def restore(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Take back the dismissal of a lesson."""
    question = "Show this lesson in prompts again? {}"
    return decision(asked, form, _PATH, restore_lesson, question, "Restore it")


def decision(
    asked: PageRequest,
    form: Form,
    path: str,
    decide: Callable[..., LessonDecisionAnswer],
    question: str,
    button: str,
) -> ConfirmedAction:
    """Return the dismissal of a lesson or a command, or that it is taken back.

    Args:
        asked: the request.
        form: it names the lesson or the command.
        path: of the list that it belongs to.
        decide: does it.
        question: asks for it; `{}` holds what it is about.
        button: of the question.
    """
    some_id, text = form.text("id"), form.optional("text") or ""

    def do(by: str, reason: str | None) -> str:
        return decide(some_id, by=by, reason=reason, project=asked.project).in_words

    return ConfirmedAction(question.format(text), button, do, asked.link_to(path, some_id))
