"""Results of page functions: something to show, or something to do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class PageView:
    """The content of a page.

    Attributes:
        template: in `templates`.
        title: of the page; it may hold text from agents.
        values: the names that the template uses.
        status: the HTTP status.
        is_whole: whether what it lists goes back to the oldest.
    """

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    is_whole: bool = True


@dataclass(frozen=True)
class ConfirmedAction:
    """An action to carry out after it was confirmed.

    Attributes:
        question: asks, in a sentence or two, whether it shall be done, and says what follows.
        button: what the button says that does it, for example "Discard 12 letters".
        do: does it, given who decides and the reason; returns what was done, in one sentence.
        back: the link that leads back to where it was asked for.
        then: the link that follows when it is done; `back` if None.
        reason: whether a reason is asked for.
        dangerous: whether it cannot be undone.
    """

    question: str
    button: str
    do: Callable[[str, str | None], str]
    back: str
    then: str | None = None
    reason: Literal["required", "optional", "none"] = "optional"
    dangerous: bool = False
