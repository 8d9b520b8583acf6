"""An agent's tool layer: replace oversized outputs by summaries, and read them back.

Replacing an output never raises: when it cannot be stored, it is passed on unchanged.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar, cast

from trackrecord.errors import InvalidArtifactId
from trackrecord.process.forking import not_while_forking
from trackrecord.process.ongoing import ongoing

from .contents import as_bytes, characters_of, keep
from .notes import note_of
from .output_records import OutputRecords
from .pages import PAGE_BYTES, Page, Range, RetrievedBytes, RetrievedText, note_retrieval, page_of
from .summary.summaries import READING, Description, describe, reading, summary

if TYPE_CHECKING:
    from trackrecord.settings.agent_settings import AgentSettings

_log = logging.getLogger("trackrecord")
_PAUSE_S = 60.0
_WHOLE: Final = Range("bytes", 0)
_quiet_until = 0.0

Output = TypeVar("Output")


@dataclass(frozen=True)
class StoredOutput:
    """An output that is stored.

    Attributes:
        id: the id under which it can be read back.
        told: its description.
        summary: the text that stands in its place.
    """

    id: str
    told: Description
    summary: str


def store_output(
    settings: AgentSettings,
    project: str | None,
    data: bytes,
    *,
    task_id: object = None,
    tool: object = None,
    command: str | None = None,
) -> StoredOutput:
    """Store an output of any size, and describe it.

    Args:
        settings: the folder, the limits, and the project where none is given.
        project: its project; the settings' project when not given.
        data: the output.
        task_id: the task that it came up in, if that is known.
        tool: the tool whose output it is, if that is known.
        command: what reads it back in a shell, up to the id, as `reading` returns it; the usual
            one when not given.

    Raises:
        OSError: it cannot be stored.
    """
    rules = settings.artifacts
    kept = keep(data, rules.max_bytes)
    told = describe(data, kept)
    artifacts = open_artifacts(settings, project)
    artifact_id = artifacts.put(kept.data)
    if command is None:
        other = None if project in (None, settings.project) else project
        command = reading(other) or READING
    text = summary(artifact_id, told, rules.summary_chars, command)
    noted = note_of(task_id, tool, told.kind, text)
    artifacts.note(artifact_id, noted)
    return StoredOutput(artifact_id, told, text)


def open_artifacts(settings: AgentSettings, project: str | None) -> OutputRecords:
    """Return the artifacts of a project with their notes, by default of the settings' project."""
    return OutputRecords(
        settings.home, project or settings.project, retention_s=settings.artifacts.retention_s
    )


def summarise(
    output: Output,
    *,
    project: str | None = None,
    task_id: str | None = None,
    tool: str | None = None,
) -> Output:
    """Return a tool's output as a prompt can hold it: itself, or a summary if it is oversized.

    An oversized output is stored whole, and the summary says under which id it can be read back.
    Never raises: an output that cannot be stored is passed on unchanged, and the log says why. So
    is everything but `str` and `bytes`, and everything that was retrieved.

    Args:
        output: the tool's output; the summary is of the same type.
        project: its project; the settings' project when not given.
        task_id: the task that it came up in, so that `context(task_id=…)` and `list_artifacts` find
            it; inside an attempt, that attempt's task when not given.
        tool: the tool whose output it is.
    """
    if not isinstance(output, (str, bytes)):
        return output
    if isinstance(output, (RetrievedText, RetrievedBytes)):
        return output
    try:
        return cast("Output", _summarised(output, project, task_id, tool))
    except Exception as problem:  # noqa: BLE001 - nothing may reach the agent
        _say(problem)
        return output


def is_oversized(output: object) -> bool:
    """Return whether `summarise` would store an output; never raises."""
    if not isinstance(output, (str, bytes)):
        return False
    try:
        return _is_oversized(output, _settings(os.getpid()).artifacts.threshold_chars)
    except Exception:  # noqa: BLE001 - as above; `summarise` says why
        return False


def _is_oversized(output: str | bytes, threshold: int) -> bool:
    if len(output) <= threshold:
        return False
    if isinstance(output, str):
        return True
    characters = characters_of(output)
    return characters is None or characters > threshold


def _summarised(
    output: str | bytes, project: str | None, task_id: str | None, tool: str | None
) -> str | bytes:
    settings = _settings(os.getpid())
    if not _is_oversized(output, settings.artifacts.threshold_chars):
        return output
    data = as_bytes(output)
    if open_artifacts(settings, project).take_retrieved(data):
        return output
    if task_id is None:
        task_id = _current_task_id(project or settings.project, settings.project)
    text = store_output(settings, project, data, task_id=task_id, tool=tool).summary
    return text if isinstance(output, str) else text.encode()


def _current_task_id(project: str, usual: str) -> str | None:
    """Return the task of the current attempt, if it belongs to the project."""
    current = ongoing.get()
    return (
        current.task_id if current is not None and (current.project or usual) == project else None
    )


def artifact(
    id: str,  # noqa: A002 - what it is called everywhere else
    *,
    lines: tuple[int, int | None] | None = None,
    bytes: tuple[int, int | None] | None = None,  # noqa: A002 - as above
    limit: int | None = -1,
    project: str | None = None,
) -> Page:
    """Return a stored output, or a part of it, one page at a time.

    Its `text` or `data` is never summarised again: not by `summarise`, and not by the wrapper of
    the tool that calls this.

    Args:
        id: the artifact's id, as the summary gives it.
        lines: the first and the last line, counted from 1; None for the last: up to the end.
        bytes: the first and the last byte, counted from 0; None for the last: up to the end.
        limit: bytes of a page; None for all that was asked for. Left out, the setting's.
        project: its project; the settings' project when not given.

    Returns:
        The page; its `following` is the range to ask for next.

    Raises:
        InvalidArtifactId: the id or the range is not a valid one.
        UnknownId: the project has no such artifact.
        ArtifactDamaged: the content on disk is not what was stored.
        OSError: it cannot be read.
        SettingsError: a setting is wrong.
    """
    note_retrieval()
    settings = _settings(os.getpid())
    wanted = _wanted(lines, bytes)
    most = PAGE_BYTES if limit == -1 else limit
    return page_of(id, open_artifacts(settings, project).get(id), wanted, most)


def _wanted(lines: tuple[int, int | None] | None, bytes_: tuple[int, int | None] | None) -> Range:
    if lines is not None and bytes_ is not None:
        message = "ask for lines or for bytes, not for both"
        raise InvalidArtifactId(message)
    try:
        if lines is not None:
            return Range.checked("lines", *lines)
        return _WHOLE if bytes_ is None else Range.checked("bytes", *bytes_)
    except ValueError as error:
        raise InvalidArtifactId(str(error)) from None


@lru_cache(maxsize=1)
def _settings(_pid: int) -> AgentSettings:
    # Only a process that handles an output pays for the settings' import.
    with not_while_forking():
        from trackrecord.settings.agent_settings import load_agent_settings

        return load_agent_settings()


def _say(problem: Exception) -> None:
    """Log a problem at most once a minute: a full disk must not flood the agent's log."""
    global _quiet_until
    now = time.monotonic()
    if now < _quiet_until:
        return
    _quiet_until = now + _PAUSE_S
    reason = getattr(problem, "strerror", None) or problem
    _log.warning("an output could not be stored and is passed on whole: %s", reason)
