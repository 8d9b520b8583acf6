"""The subject of forgetting: a source, a task, or a whole project; and the bodies about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from trackrecord.learning.text.project_names import DEFAULT_PROJECT

What = Literal["source", "task", "project"]

MAX_NAME: Final = 256


@dataclass(frozen=True)
class Subject:
    """The subject of forgetting.

    Attributes:
        what: what kind of thing it is.
        project: the project; of a source or a task, the one that it is forgotten in.
        name: the name of the source, the id of the task; for a project, the project's name.
    """

    what: What
    project: str
    name: str

    def concerns(self, told: "BodySubject") -> bool:
        """Return whether a body belongs to the subject."""
        if told.project != self.project:
            return False
        if self.what == "project":
            return True
        return self.name in (told.tasks if self.what == "task" else told.sources)

    def may_be_in(self, body: bytes) -> bool:
        """Return whether the name occurs in a body that cannot be read."""
        return any(spelling in body for spelling in _spellings(self.name))


class BodySubject(msgspec.Struct, frozen=True):
    """The source and the task of a body.

    Attributes:
        project: its project; None where it names something that is not a project.
        sources: the sources that it names.
        tasks: the tasks that it names.
        body_id: the id that its producer gave it; None without one.
    """

    project: str | None
    sources: tuple[str, ...]
    tasks: tuple[str, ...]
    body_id: str | None


class _Fields(msgspec.Struct):
    """The source and the task of a body, of any type: refused bodies are looked at, too."""

    project: Any = None
    source: Any = None
    task_id: Any = None
    bead_id: Any = None
    outcome_id: Any = None
    memory_id: Any = None
    exposure_id: Any = None
    feedback_id: Any = None
    hint_id: Any = None
    id: Any = None


_decoder = msgspec.json.Decoder(_Fields)


def told_by(body: bytes) -> BodySubject | None:
    """Return the subject of a body, valid or not; None if it is not a JSON object."""
    try:
        fields = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    project = DEFAULT_PROJECT if fields.project is None else fields.project
    ids = (
        fields.outcome_id, fields.memory_id, fields.exposure_id, fields.feedback_id,
        fields.hint_id, fields.id,
    )  # fmt: skip
    return BodySubject(
        project if isinstance(project, str) else None,
        tuple(_texts(fields.source)),
        tuple(_texts(fields.task_id, fields.bead_id)),
        next(_texts(*ids), None),
    )


def _texts(*values: object) -> Iterator[str]:
    return (each for each in values if isinstance(each, str))


def _spellings(name: str) -> Iterator[bytes]:
    """Yield a name as JSON has it: in UTF-8, and with escapes."""
    yield msgspec.json.encode(name)[1:-1]
    yield name.encode("unicode_escape").replace(b"\\x", b"\\u00")
