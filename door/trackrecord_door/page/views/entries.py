"""Parts that pages of single patterns, lessons, memories and criteria share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final, Literal

from trackrecord.resources.figures.explanations import ExplanationAnswer

from ..answering import ConfirmedAction
from ..requests.forms import Form
from ..requests.page_request import PageRequest

# Where what is handed out has a page of its own, by its kind.
_PAGES: Final = {
    "lesson": "/lessons",
    "memory": "/memories",
    "competence": "/procedures",
    "pattern": "/patterns",
}


def link_to_entry(asked: PageRequest, kind: str, entry_id: str) -> str | None:
    """Return the link to an entry of advice; None where it has no page."""
    path = _PAGES.get(kind)
    return None if path is None else asked.link_to(path, entry_id)


@dataclass(frozen=True)
class HistoryEvent:
    """Something that happened to an entry.

    Attributes:
        at: when, seconds since the epoch.
        what: in a few words.
        by: who did it; None where nobody did.
        reason: why; None where nobody said.
        run: the id of the run that brought it about, None without one.
        task: the task that did, None without one.
    """

    at: float
    what: str
    by: str | None = None
    reason: str | None = None
    run: str | None = None
    task: str | None = None


@dataclass(frozen=True)
class RunBehind:
    """A run that an entry rests on.

    Attributes:
        id: the id of its outcome; None for feedback that no run gave.
        task: its task.
        at: when it ended, or when the feedback was given.
        said: what it says of the entry, for example "helpful".
        success: whether the task reached its goal; None where nobody knows it.
    """

    id: str | None
    task: str | None
    at: float
    said: str
    success: bool | None = None

    @property
    def result(self) -> str:
        """The result of the task, as a word."""
        if self.success is None:
            return "unknown"
        return "success" if self.success else "failure"


def sentences(lines: Sequence[str]) -> list[str]:
    """Return the lines of an explanation as sentences."""
    return [_sentence(line) for line in lines]


def _sentence(line: str) -> str:
    end = "" if line.endswith((".", "!", "?", "。", "…")) else "."
    return f"{line[:1].upper()}{line[1:]}{end}"


@dataclass(frozen=True)
class WhyInWords:
    """An explanation in words.

    Attributes:
        because: what decided.
        to_change: what it would take to change it.
        rebuild_due: why the numbers must be computed anew.
    """

    because: Sequence[str]
    to_change: Sequence[str]
    rebuild_due: Sequence[str]


def why(explanation: ExplanationAnswer) -> WhyInWords:
    """Return an explanation as a page shows it."""
    return WhyInWords(
        sentences(explanation.because),
        sentences(explanation.to_change),
        sentences(explanation.rebuild_due),
    )


def decision(
    path: str,
    call: Callable[..., Any],
    question: str,
    button: str,
    said: Callable[[Any], str] = lambda decided: decided.in_words,
    *,
    whole: Callable[[PageRequest, str], str] = lambda _, given: given,
    more: Callable[[Form], dict[str, Any]] = lambda _: {},
    reason: Literal["required", "optional", "none"] = "optional",
    erases: bool = False,
    dangerous: bool = False,
) -> Callable[[PageRequest, Form], ConfirmedAction]:
    """Return the action of a page that is one call about one entry of a list.

    Args:
        path: of the list.
        call: does it.
        question: asks for it; `{}` holds what it is about, and then come further arguments.
        button: of the question.
        said: returns what became of it.
        whole: returns the id for which a text stands.
        more: returns further arguments of the call.
        reason: whether one is asked for.
        erases: whether the entry is gone afterwards.
        dangerous: whether it cannot easily be taken back.
    """
    is_signed = "by" in signature(call).parameters

    def action(asked: PageRequest, form: Form) -> ConfirmedAction:
        some_id, given = whole(asked, form.text("id")), more(form)

        def do(by: str, why: str | None) -> str:
            signed = {"by": by, "reason": why} if is_signed else {}
            return said(call(some_id, project=asked.project, **given, **signed))

        return ConfirmedAction(
            question.format(form.optional("text") or some_id, *given.values()),
            button,
            do,
            asked.link_to(path, some_id),
            then=asked.link(path) if erases else None,
            reason=reason,
            dangerous=erases or dangerous,
        )

    return action
