"""The interface of adapters for recorded sessions: find the logs, and read runs from them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..agent_run import AgentRun


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """One file in which an agent keeps sessions.

    Attributes:
        path: where it is.
        size: how large it is, in bytes; what progress is measured by.
        version: grows with every change: the size of a file that is only appended to, the time of
            the last change of a database. A log whose version is as before need not be read.
        stamp: the file's device, inode, size and last change; "" if not known. A file with the
            same stamp is the same one, unchanged, and is not opened.
    """

    path: Path
    size: int
    version: int
    stamp: str = ""


class ReadRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run, and where to go on.

    Attributes:
        run: the run. One that goes on, or whose next prompt is not there yet, is read again later
            and then says more; as an outcome it is still the same one.
        resume_at: reading from here on yields this run again and all that follow it, so that
            whatever is appended later is seen. Its meaning is the adapter's own.
        position: how many bytes of the log had been read, for the progress bar.
    """

    run: AgentRun
    resume_at: int
    position: int


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a log that could not be read; reading continues after it.

    Attributes:
        place: where, as "line 3".
        reason: what is wrong with it, without its content.
    """

    place: str
    reason: str


class RecordedPrompt(msgspec.Struct, frozen=True):
    """A prompt as an agent's own recording has it; missing parts are "".

    Attributes:
        id: the prompt's id.
        folder: the folder that the agent worked in.
        repository: the address of the repository.
    """

    id: str = ""
    folder: str = ""
    repository: str = ""


@dataclass(frozen=True, kw_only=True)
class Source:
    """An agent whose sessions are recorded on this machine.

    Attributes:
        name: the agent's name, as in `trackrecord import NAME`.
        pattern: the end of the paths of its logs, as a glob: `rollout-*.jsonl`.
        homes: returns the folders where it keeps its logs, whether they exist or not.
        read_log: reads the runs of a log in bounded memory, from a position on that an earlier run
            named.
    """

    name: str
    pattern: str
    homes: Callable[[], Sequence[Path]]
    read_log: Callable[[Log, int], Iterator[ReadRun | Unreadable]]

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the logs in folders or files, the oldest first; missing ones are skipped."""
        raise NotImplementedError

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Read the runs of a log, from its start if no position is given."""
        return self.read_log(log, resume_at)
