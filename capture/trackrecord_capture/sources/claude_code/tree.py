"""The runs of a transcript as branches of a tree: each record names the one before it.

Where two terminals have resumed one session their records alternate, and only the tree tells which
run a record belongs to.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from ...agent_run import Signal
from ..conversation import Turn
from ..json_values import as_text
from .records import Record, id_of, key_of, parent_of
from .words import instruction_of, is_command

# How many runs can be open at once, and how many records are known to belong to one of them.
_MOST_OPEN: Final = 16
_MOST_KNOWN: Final = 100_000
# How many runs can be taken back.
_MOST_BEGUN: Final = 1000


@dataclass(slots=True, eq=False)
class TranscriptRun(Turn):
    """A run, and its place in the tree; its parent is the prompt of the run that started it.

    Attributes:
        asked_after: the id of the record that its prompt follows; "" at the very beginning, None
            if unknown.
        is_rewound: whether the person went back to before its prompt.
        failure: how the model's API failed, unless an answer came after all.
        has_answered: whether the agent worked; else Claude Code carried out a command by itself.
        awaits_answer: whether the results of calls came last.
        typed: the id of the last command that the person ran beside the agent.
    """

    asked_after: str | None = None
    is_rewound: bool = False
    failure: Signal | None = None
    has_answered: bool = False
    awaits_answer: bool = False
    typed: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether no agent worked in it."""
        return not self.has_answered and not self.signs and self.failure is None


class RecordTree:
    """The runs that are open, and which of them each record belongs to.

    Args:
        agent: the id of the sub-agent whose transcript it is; "" for that of a session.
        is_whole: whether the transcript is read from its beginning.

    Attributes:
        open: the runs of which more may come.
        ready: those among them of which nothing more will.
        current: the run that began last, if there is one.
        rewound: runs that were taken back after they had ended.
        is_torn: whether the person went back to a part that was not read.
    """

    def __init__(self, agent: str, *, is_whole: bool) -> None:
        self._agent = agent
        self._is_whole = is_whole
        self._run_of: dict[str, TranscriptRun] = {}
        self._known: deque[str] = deque()
        self._begun: deque[TranscriptRun] = deque(maxlen=_MOST_BEGUN)
        self.open: list[TranscriptRun] = []
        self.ready: list[TranscriptRun] = []
        self.current: TranscriptRun | None = None
        self.rewound: list[TranscriptRun] = []
        self.is_torn = False

    def run_of(self, record: Record, start: int) -> TranscriptRun | None:
        """Return the run that a record belongs to; None in front of the first prompt."""
        if self._agent and self.current is None and record.get("type") == "assistant":
            return self._opened(record, start)
        run = self._run_of.get(parent_of(record))
        if run is None and (prompt := as_text(record.get("promptId"))):
            run = next((other for other in self.open if other.prompt == prompt), None)
        if run is None or run not in self.open:
            run = self.current
        return run if run in self.open else None

    def before(self, record: Record) -> TranscriptRun | None:
        """Return the run that a prompt follows in its branch of the tree."""
        run = self._run_of.get(parent_of(record), self.current)
        # A command that only Claude Code itself carried out stands between.
        return run if run in self.open and run not in self.ready else None

    def has_begun(self, record: Record, run: TranscriptRun | None) -> bool:
        """Return whether a prompt is a part of the run that its record belongs to."""
        if run is None:
            return False
        if self._agent or record.get("isSidechain") is True:
            # What a sub-agent is told later belongs to the same run.
            return bool(self._agent or parent_of(record))
        is_next = "promptSource" in record and not run.is_empty
        return run.prompt == key_of(record) and bool(run.words) and not is_next

    def begin(self, record: Record, start: int, said: str) -> TranscriptRun:
        """Return the run that a prompt begins, or that is told more by it."""
        is_new = not any(other.prompt == key_of(record) for other in self.open)
        run = self._opened(record, start)
        if is_new and not run.parent:
            run.asked_after = (
                "" if record.get("parentUuid", "") is None else parent_of(record) or None
            )
            self.return_to(run.asked_after, is_asked=True)
            self._begun.append(run)
        run.words = instruction_of(said)
        return run

    def is_followed(self, before: TranscriptRun, run: TranscriptRun, said: str) -> bool:
        """Return whether a run ends because another one begins behind it with these words."""
        if before is run or run.parent or before.parent:
            return False
        if before.is_empty:
            self.ready.append(before)
            return False
        # A command may be one that no agent works on, which says nothing about the run before it.
        if not is_command(said):
            self.ready.append(before)
        return before in self.ready

    def shorten(self) -> None:
        """Bound the number of open runs: the oldest one is dropped."""
        if len(self.open) - len(self.ready) > _MOST_OPEN:
            self.ready.append(next(run for run in self.open if run not in self.ready))

    def return_to(self, record: str | None, *, is_asked: bool) -> None:
        """Take back the runs that followed a record to which the person went back.

        Args:
            record: the record behind which the session goes on; "" for its very beginning, None if
                unknown.
            is_asked: whether a run begins there; else nothing was asked there yet.
        """
        origin = self._run_of.get(record or "")
        if record is None or (not is_asked and origin is None):
            return
        taken = [
            run
            for run in self._begun
            if (is_asked and run.asked_after == record)
            or (origin is not None and self._origin(run) is origin)
        ]
        if not taken and record and origin is None and not self._is_whole and self._begun:
            self.is_torn = True
        taken += [run for run in self._begun if run not in taken and self._origin(run) in taken]
        for run in taken:
            if run in self.open:
                # There is something that was taken back with it.
                run.is_rewound = run.is_over and bool(run.calls)
            elif not run.is_rewound:
                run.is_rewound = True
                self.rewound.append(run)

    def _origin(self, run: TranscriptRun) -> TranscriptRun | None:
        """Return the run behind which another one was asked for."""
        return self._run_of.get(run.asked_after) if run.asked_after else None

    def _opened(self, record: Record, start: int) -> TranscriptRun:
        is_sub_agent = bool(self._agent) or record.get("isSidechain") is True
        parent = as_text(record.get("promptId")) if self._agent else ""
        if is_sub_agent and not self._agent:
            parent = self.current.prompt if self.current else ""
        key = self._agent or key_of(record)
        run = next((other for other in self.open if other.prompt == key), None)
        if run is None:
            run = TranscriptRun(key, start, parent=parent)
            self.open.append(run)
        if not is_sub_agent or self._agent:
            self.current = run
        self.own(record, run)
        return run

    def note(self, record: Record) -> None:
        """Remember which run a record belongs to, for those that name it as the one before."""
        if id_of(record) not in self._run_of:
            run = self._run_of.get(parent_of(record), self.current)
            if run is not None:
                self.own(record, run)

    def own(self, record: Record, run: TranscriptRun) -> None:
        """Note that a record belongs to a run."""
        uuid = id_of(record)
        if not uuid:
            return
        self._run_of[uuid] = run
        self._known.append(uuid)
        if len(self._known) > _MOST_KNOWN:
            self._run_of.pop(self._known.popleft(), None)
