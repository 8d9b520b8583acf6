"""Notes on artifacts: which task and which tool an output came from, and its summary.

One small file for each artifact, task and tool, in a folder for each task, so that what a prompt
asks for is found without a look at anything else. Whoever stores the same output for another task
leaves a note of their own; the artifact itself is stored once.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Final

import msgspec

from trackrecord.learning.text.inert import bounded
from trackrecord.learning.text.redaction import redacted

from .folder import inner_folder, names_in, open_file, write_file

# Where the notes are, in the folder of a project's artifacts.
NOTES: Final = ".notes"
LONGEST_TASK_ID: Final = 256
LONGEST_TOOL: Final = 128
_LONGEST_SUMMARY: Final = 2000
_LARGEST: Final = 16 * 1024
_DIGEST_BYTES: Final = 12
_NAME: Final = re.compile(r"([0-9a-f]{64})\.[0-9a-f]{24}")


class ArtifactNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """The facts that are stored about an artifact.

    Attributes:
        task_id: the task that it came up in; "" if nobody said.
        tool: the tool whose output it is; "" if nobody said.
        kind: the kind of the output.
        summary: the text that stood in its place, without secrets.
    """

    task_id: str = ""
    tool: str = ""
    kind: str = ""
    summary: str = ""


class Noted(msgspec.Struct, frozen=True):
    """A note as the folder holds it.

    Attributes:
        artifact: the artifact's id.
        at: when it was stored last with this note, seconds since the epoch.
        note: the note.
    """

    artifact: str
    at: float
    note: ArtifactNote


_decoder = msgspec.json.Decoder(ArtifactNote)
_IsStored = Callable[[str], bool]


def note_of(task_id: object, tool: object, kind: str, summary: str) -> ArtifactNote:
    """Return a note on an output; invalid names of a task or a tool are left out.

    Its texts come from agents: secrets in them are replaced, and they are cut to length.
    """
    return ArtifactNote(
        task_id=usable_task(task_id),
        tool=bounded(redacted(_text(tool)), LONGEST_TOOL),
        kind=kind,
        summary=bounded(redacted(summary), _LONGEST_SUMMARY),
    )


def usable_task(task_id: object) -> str:
    """Return the id of a task as outcomes have it; "" for an invalid one."""
    text = _text(task_id)
    return text if len(text) <= LONGEST_TASK_ID and "\0" not in text else ""


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode()


def folder_of(task_id: str) -> str:
    """Return the name of a task's folder: letters and digits only."""
    return _digest(task_id)


def write_note(folder: int, artifact_id: str, note: ArtifactNote, now: float) -> None:
    """Write a note into its task's folder, whole or not at all; an equal one is renewed.

    Raises:
        OSError: it cannot be written.
    """
    write_file(folder, f"{artifact_id}.{_digest(note.tool)}", msgspec.json.encode(note), now)


def notes_in(folder: int, most: int | None = None) -> list[Noted]:
    """Return the newest notes of a task's folder, newest first.

    Args:
        folder: the task's folder.
        most: how many at most; None for all.

    Raises:
        OSError: the folder cannot be read.
    """
    found = sorted((-at, name) for name, at in _named(folder))
    noted = []
    for minus_at, name in found[:most]:
        note = _read(folder, name)
        if note is not None:
            noted.append(Noted(name[:64], -minus_at, note))
    return noted


def forget_notes(notes: int, task_id: str) -> set[str]:
    """Delete a task's notes; return the ids of the artifacts that no other task has a note on.

    Raises:
        OSError: something cannot be deleted.
    """
    with inner_folder(notes, folder_of(task_id)) as folder:
        found = _artifacts_in(folder)
        for name in names_in(folder):
            os.unlink(name, dir_fd=folder)
    os.rmdir(folder_of(task_id), dir_fd=notes)
    for other in names_in(notes):
        with suppress(FileNotFoundError, NotADirectoryError), inner_folder(notes, other) as folder:
            found -= _artifacts_in(folder)
    return found


def _artifacts_in(folder: int) -> set[str]:
    return {name[:64] for name in names_in(folder) if _NAME.fullmatch(name)}


def _named(folder: int) -> Iterator[tuple[str, float]]:
    for name in names_in(folder):
        if _NAME.fullmatch(name):
            with suppress(FileNotFoundError):
                yield name, os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime


def _read(folder: int, name: str) -> ArtifactNote | None:
    """Return a note; None for one that is gone, is damaged or is of another version."""
    try:
        with os.fdopen(open_file(name, folder), "rb") as file:
            return _decoder.decode(file.read(_LARGEST))
    except (OSError, msgspec.DecodeError):
        return None


def prune_notes(project: int, is_expired: Callable[[float], bool], is_stored: _IsStored) -> None:
    """Delete the notes of a project that are expired or whose artifact is gone.

    Args:
        project: the folder of the project's artifacts.
        is_expired: says of a time whether a note of then has expired.
        is_stored: says whether there is an artifact.

    Raises:
        OSError: a folder cannot be read or written to.
    """
    with suppress(FileNotFoundError), inner_folder(project, NOTES) as notes:
        for task in names_in(notes):
            with suppress(FileNotFoundError, NotADirectoryError):
                with inner_folder(notes, task) as folder:
                    _prune_task(folder, is_expired, is_stored)
                with suppress(OSError):  # there are others in it
                    os.rmdir(task, dir_fd=notes)


def _prune_task(folder: int, is_expired: Callable[[float], bool], is_stored: _IsStored) -> None:
    for name in names_in(folder):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        is_artifacts = _NAME.fullmatch(name) is not None and is_stored(name[:64])
        if stat.S_ISREG(status.st_mode) and (not is_artifacts or is_expired(status.st_mtime)):
            os.unlink(name, dir_fd=folder)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
