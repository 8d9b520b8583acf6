"""A run while it is being read."""

from dataclasses import dataclass, field
from typing import Final

from ..agent_run import Signal, SignalKind
from .excerpts import excerpt
from .open_calls import OpenCall

LONGEST_PROMPT: Final = 32_768
LONGEST_SAYS: Final = 1024
_MOST_SIGNS: Final = 1000


@dataclass(slots=True, eq=False)
class Turn:
    """A run as far as it is known; see `AgentRun` for what is not told here.

    Where it names no session, folder, branch, name, parent or model, the `Conversation` does.

    Attributes:
        start: from which position of the log on it can be read again.
        last_at: when there was a sign of life of it.
        words: what the person asked.
        calls: its calls by their ids, in order.
        tokens: the tokens that were read and written for each answer.
        usd: the cost of each answer.
        has_worked: whether anything happened in it.
    """

    prompt: str
    start: int
    started_at: float | None = None
    last_at: float | None = None
    words: str = ""
    session: str = ""
    record: str = ""
    folder: str = ""
    branch: str = ""
    name: str = ""
    parent: str = ""
    calls: dict[str, OpenCall] = field(default_factory=dict)
    signs: list[Signal] = field(default_factory=list)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    usd: dict[str, float] = field(default_factory=dict)
    model: str = ""
    automated: bool = False
    is_copy: bool = False
    is_over: bool = False
    has_worked: bool = False

    def touch(self, at: float | None) -> None:
        """Take a sign of life."""
        if at is not None:
            self.started_at = at if self.started_at is None else self.started_at
            self.last_at = at if self.last_at is None else max(self.last_at, at)

    def sign(
        self, kind: SignalKind, says: str = "", at: float | None = None, call: int | None = None
    ) -> None:
        """Note a piece of evidence; see `Signal`."""
        if len(self.signs) < _MOST_SIGNS:
            most = LONGEST_PROMPT if kind is SignalKind.FOLLOWED_BY else LONGEST_SAYS
            self.signs.append(Signal(kind=kind, says=excerpt(says, most), at=at, call=call))
