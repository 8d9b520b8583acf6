"""Lessons: what the calls of tools teach, one with the runs behind it, and dismissing it."""

from trackrecord.changes.lessons import Action, decide_about_lesson
from trackrecord.learning.advice.lessons.lesson import LessonKind, LessonState
from trackrecord.queries.found_lessons import is_quickly_counted, lesson_strength_over_time
from trackrecord.queries.lessons import KnownLesson, lesson_filter, list_lessons, show_lesson
from trackrecord.queries.rates_over_time import Rates
from trackrecord.queries.sorting import LESSONS
from trackrecord.store.advice.lesson_decisions import LessonDecision

from ..answering import Deed, Shown
from ..asked import PageRequest
from ..forms import Form
from ..listing import listed
from .entries import Happening, RunBehind, points, sentences

_PATH = "/lessons"
_KINDS = [
    (LessonKind.FAILS, "a tool fails"),
    (LessonKind.NEVER_SUCCEEDS, "never succeeds"),
    (LessonKind.NEEDS_FIRST, "needs another call first"),
    (LessonKind.LOOPS, "is repeated in vain"),
    (LessonKind.GOES_WITH_SUCCESS, "goes with success"),
    (LessonKind.THEN_WORKS, "works afterwards"),
]
_DISMISSED = "dismissed"


def shown(asked: PageRequest) -> Shown:
    """Show the lessons of a project."""
    state = asked.text("state")
    wanted = lesson_filter(
        tool=asked.text("tool"),
        kind=asked.text("kind"),
        state=None if state in ("all", _DISMISSED) else state,
        everything=state in ("all", _DISMISSED),
        source=asked.text("source"),
        content=asked.text("q"),
    )
    with asked.reading() as connection:
        found = list_lessons(
            connection, asked.floor.settings, asked.project, at=asked.at, wanted=wanted
        )
    if state == _DISMISSED:
        found = [known for known in found if known.dismissed]
    values = {
        "listing": listed(asked, found, keys=LESSONS.keys, text=lambda each: each.id, search=False),
        "kinds": _KINDS,
        "words_of_kind": dict(_KINDS),
        "states": [
            *((each.value, each.value) for each in (LessonState.ESTABLISHED, LessonState.SEEN)),
            ("faded", "faded"),
            (_DISMISSED, _DISMISSED),
            ("all", "all, also faded and dismissed"),
        ],
        "state_of": state_of,
    }
    return Shown("lessons.html", "Lessons", values)


def entry(asked: PageRequest) -> Shown:
    """Show one lesson."""
    settings, project, at = asked.floor.settings, asked.project, asked.at
    with asked.reading() as connection:
        details = show_lesson(connection, settings, project, asked.named["lesson"], at=at)
        known = details.known
        rates: Rates | None = None
        if asked.text("over_time") or is_quickly_counted(connection, project):
            rates = lesson_strength_over_time(connection, settings, project, known.id, at=at)
    values = {
        "known": known,
        "lesson": known.lesson,
        "state": state_of(known),
        "kind": dict(_KINDS)[known.lesson.kind],
        "also": sentences(known.lesson.also),
        "rates": None if rates is None else points(rates),
        "history": [*map(happening, reversed(details.history))],
        "runs": [
            RunBehind(each.outcome_id, each.task_id, each.ended_at, "", each.success)
            for each in details.outcomes
        ],
    }
    return Shown("lesson.html", known.text, values)


def state_of(known: KnownLesson) -> str:
    """Return the state of a lesson in a word."""
    return _DISMISSED if known.dismissed else known.lesson.state.value


def happening(decision: LessonDecision) -> Happening:
    """Return a decision about a lesson in words."""
    what = _DISMISSED if decision.action == "dismiss" else "restored"
    return Happening(decision.at, what, decision.actor, decision.reason or None)


def dismiss(asked: PageRequest, form: Form) -> Deed:
    """Dismiss a lesson."""
    question = "Dismiss this lesson? No prompt shows it until it is restored: {}"
    return _decision(asked, form, "dismiss", question, "Dismiss it")


def restore(asked: PageRequest, form: Form) -> Deed:
    """Take back the dismissal of a lesson."""
    return _decision(asked, form, "restore", "Show this lesson in prompts again? {}", "Restore it")


def _decision(asked: PageRequest, form: Form, action: Action, question: str, button: str) -> Deed:
    lesson_id, text = form.text("id"), form.optional("text") or ""

    def do(by: str, reason: str | None) -> str:
        decided = decide_about_lesson(
            asked.floor.engine, asked.floor.settings, asked.project, lesson_id, action,
            by=by, reason=reason,
        )  # fmt: skip
        done = {
            ("dismiss", True): _DISMISSED,
            ("dismiss", False): "was dismissed already",
            ("restore", True): "restored",
            ("restore", False): "was not dismissed",
        }
        return f"{decided.id}: {done[action, decided.changed]}"

    return Deed(question.format(text), button, do, asked.link_to(_PATH, lesson_id))
