"""Stored outputs with their notes: listed, found by task, and forgotten."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from .folder import inner_folder, names_in, opened_folder
from .notes import (
    NOTES,
    ArtifactNote,
    Noted,
    folder_of,
    forget_notes,
    notes_in,
    usable_task,
    write_note,
)
from .store import FOLDER, ArtifactEntry, ArtifactStore, entry_in


@dataclass(frozen=True)
class OutputRecord:
    """An output as one task and tool stored it; equal outputs of others share the artifact.

    Attributes:
        id: the artifact's id.
        size: its size in bytes.
        stored_at: when it was stored last by this task and tool, seconds since the epoch.
        kept_until: when it may be forgotten, seconds since the epoch.
        task_id: the task; "" if nobody said.
        tool: the tool; "" if nobody said.
        kind: the kind of the output; "" if that is not known.
        summary: the text in its place, without secrets; "" if there is none.
    """

    id: str
    size: int
    stored_at: float
    kept_until: float
    task_id: str = ""
    tool: str = ""
    kind: str = ""
    summary: str = ""


class OutputRecords(ArtifactStore):
    """The artifacts of one project, with the notes on the outputs that they are."""

    def note(self, artifact_id: str, note: ArtifactNote) -> None:
        """Store a note about a stored artifact.

        Raises:
            OSError: it cannot be kept.
        """
        # Pruning waits meanwhile, so that it does not delete what is written here.
        with self._locked(fcntl.LOCK_SH), self._notes(note.task_id, make=True) as notes:
            write_note(notes, artifact_id, note, self._clock())

    def all(self) -> list[OutputRecord]:
        """Return all stored outputs, newest first.

        An artifact that several tasks or tools stored is there once for each of them.

        Raises:
            OSError: a folder cannot be read.
        """
        noted = self._noted()
        outputs = [
            self._output(entry, each)
            for entry in self.entries()
            for each in noted.get(entry.id, [None])
        ]
        return sorted(outputs, key=_newest_first)

    def of_task(self, task_id: str, most: int | None = None) -> list[OutputRecord]:
        """Return the stored outputs of one task, newest first; nothing else is looked at.

        Args:
            task_id: the task.
            most: how many at most; None for all.

        Raises:
            OSError: a folder cannot be read.
        """
        task_id = usable_task(task_id)
        outputs: list[OutputRecord] = []
        with (
            suppress(FileNotFoundError),
            self._notes(task_id, make=False) as notes,
            self._opened(make=False) as folder,
        ):
            for each in notes_in(notes, most):
                entry = entry_in(folder, each.artifact)
                if entry is not None and each.note.task_id == task_id:
                    outputs.append(self._output(entry, each))
        return outputs

    def forget_task(self, task_id: str) -> int:
        """Delete the outputs of a task; return how many artifacts are gone.

        An artifact that another task stored, too, stays.

        Raises:
            OSError: something cannot be deleted.
        """
        gone: set[str] = set()
        with suppress(FileNotFoundError), self._locked(fcntl.LOCK_EX) as folder:
            with inner_folder(folder, NOTES) as notes:
                gone = forget_notes(notes, usable_task(task_id))
            for name in gone:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
        return len(gone)

    def _noted(self) -> dict[str, list[Noted | None]]:
        noted: dict[str, list[Noted | None]] = {}
        with (
            suppress(FileNotFoundError),
            self._opened(make=False) as folder,
            inner_folder(folder, NOTES) as notes,
        ):
            for task in names_in(notes):
                gone = suppress(FileNotFoundError, NotADirectoryError)
                with gone, inner_folder(notes, task) as in_task:
                    for each in notes_in(in_task):
                        noted.setdefault(each.artifact, []).append(each)
        return noted

    def _output(self, entry: ArtifactEntry, noted: Noted | None) -> OutputRecord:
        until = entry.stored_at + self._retention_s
        if noted is None:
            return OutputRecord(entry.id, entry.size, entry.stored_at, until)
        note = noted.note
        return OutputRecord(
            entry.id, entry.size, noted.at, until, note.task_id, note.tool, note.kind, note.summary
        )

    @contextmanager
    def _locked(self, how: int) -> Iterator[int]:
        with self._opened(make=False) as folder:
            fcntl.flock(folder, how)
            try:
                yield folder
            finally:
                fcntl.flock(folder, fcntl.LOCK_UN)

    @contextmanager
    def _notes(self, task_id: str, *, make: bool) -> Iterator[int]:
        names = (FOLDER, self._folder, NOTES, folder_of(task_id))
        with opened_folder(self._home, *names, make=make) as folder:
            yield folder


def _newest_first(output: OutputRecord) -> tuple[float, str, str, str]:
    return -output.stored_at, output.id, output.task_id, output.tool
