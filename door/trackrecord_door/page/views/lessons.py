"""Lessons from the calls of tools: the list, one with the runs behind it, and dismissing it."""

from typing import Any, Final

from trackrecord.learning.advice.lessons.lesson import LessonKind, LessonState
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.commands import CommandDetails
from trackrecord.resources.experience.lessons import (
    LESSONS,
    LessonDetails,
    details_of,
    dismiss_lesson,
    lessons_of,
    restore_lesson,
)

from ..answering import PageView
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import HistoryEvent, RunBehind, decision, sentences

_PATH = "/lessons"
_KINDS = [
    (LessonKind.FAILS, "a tool fails"),
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


dismiss: Final = decision(
    _PATH,
    dismiss_lesson,
    "Dismiss this lesson? No prompt shows it until it is restored: {}",
    "Dismiss it",
)
restore: Final = decision(
    _PATH, restore_lesson, "Show this lesson in prompts again? {}", "Restore it"
)
