"""Artifacts: oversized outputs that are stored whole, by their task and tool.

The Python calls that store one and read it back, which need no server, are those of
`trackrecord.artifacts`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import TYPE_CHECKING, Annotated, Literal, Self

from msgspec import Meta

from trackrecord.artifacts.contents import lines_of
from trackrecord.artifacts.pages import PAGE_BYTES, Page, Range, page_of
from trackrecord.errors import InvalidRequest, UnknownId
from trackrecord.learning.text.spelling import closest
from trackrecord.resources.access.project_store import check_project
from trackrecord.resources.access.redis_server import process_settings
from trackrecord.resources.declaration.checks import IdOf, Limit, Text
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from trackrecord.artifacts.output_records import OutputRecord


class Artifact(Answer, frozen=True, kw_only=True):
    """An output as one task and tool stored it; equal outputs of others share the artifact.

    Attributes:
        id: the artifact's id.
        task_id: the task; null if nobody said.
        tool: the tool; null if nobody said.
        kind: the kind of the output; null if that is not known.
        size: its size in bytes.
        stored_at: when it was stored last by this task and tool.
        kept_until: when it may be forgotten.
        summary: the text in its place, without secrets; null if there is none.
    """

    id: str
    task_id: str | None
    tool: str | None
    kind: str | None
    size: int
    stored_at: Instant
    kept_until: Instant
    summary: str | None

    @classmethod
    def of(cls, kept: OutputRecord) -> Self:
        """Return a stored output as an answer."""
        texts = ("task_id", "tool", "kind", "summary")
        return cls.taken(kept, **{name: getattr(kept, name) or None for name in texts})


class ArtifactPage(Answer, frozen=True, kw_only=True):
    """A stored output, or a part of it.

    Attributes:
        id: the artifact's id.
        kind: the kind of the output; null if that is not known.
        size: the size of the whole in bytes.
        lines: how many lines the whole has; null if it is not text.
        start: the place of the first byte of the part.
        end: the place after its last byte.
        encoding: how the content is written.
        content: the part.
        following: what to ask for next; null at the end.
    """

    id: str
    kind: str | None
    size: int
    lines: int | None
    start: int
    end: int
    encoding: Literal["utf-8", "base64"]
    content: str
    following: Range | None

    @classmethod
    def of(cls, page: Page, whole: bytes) -> Self:
        """Return a part of a stored output as an answer; what is not UTF-8 is base64.

        Args:
            page: the part.
            whole: the whole output.
        """
        from trackrecord.artifacts.summary.summaries import kind_of_output

        try:
            content, encoding = page.data.decode(), "utf-8"
        except UnicodeDecodeError:
            content, encoding = b64encode(page.data).decode(), "base64"
        end = page.start + len(page.data)
        kind, lines = kind_of_output(whole), lines_of(whole)
        return cls.taken(page, kind=kind, lines=lines, end=end, encoding=encoding, content=content)


class StoredArtifact(Answer, frozen=True, kw_only=True):
    """An output that was stored just now.

    Attributes:
        id: the artifact's id.
        kind: the kind of the output; null if that is not known.
        size: its size in bytes.
        lines: how many lines it has; null if it is not text.
        gone: how many bytes of its middle were too many to be stored.
        task_id: the task that it came up in.
        tool: the tool whose output it is.
        summary: the text that can take its place in a prompt.
    """

    id: str
    kind: str | None
    size: int
    lines: int | None
    gone: int
    task_id: str | None
    tool: str | None
    summary: str


ArtifactId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("artifact")]


def _unknown_task(
    *, task_id: str | None = None, project: str | None = None, **_given: object
) -> UnknownId | None:
    """Return the error for a task of which nothing is stored, which is normal.

    Raises:
        UnknownProject: nothing is on record for the project, and nothing is stored.
    """
    from trackrecord.artifacts.client import open_artifacts

    known = [each.task_id for each in open_artifacts(process_settings(), project).all()]
    if not known:
        check_project(project)
    if task_id is None or task_id in known:
        return None
    nearest = closest(task_id, {each for each in known if each})
    message = f"project {project!r} has no artifact of task {task_id!r}"
    return UnknownId(message, nearest=nearest)


def _other_ids(project: str, _ids: list[str]) -> list[str]:
    return [each.id for each in list_artifacts(project=project)]


ARTIFACTS = Resource("artifacts", "Store and return oversized tool outputs.", other_ids=_other_ids)


@ARTIFACTS.offers(
    "GET /artifacts",
    command="list",
    needs_store=False,
    sorting=sorting_of(
        "artifacts", "id task_id tool", id="id", task="task_id", tool="tool", kind="kind",
        size="size", stored="stored_at", kept_until="kept_until",
    ),
    in_pages=True,
    columns=("id", "task", "tool", "kind", "size", "stored_at", "kept_until"),
    about="task",
    secondary=("kept_until", "kind", "size", "stored_at"),
    cells={"task": lambda stored: stored.task_id},
    nothing="no artifacts of project {project!r}",
    unknown=_unknown_task,
    option_names={"task_id": "task"},
    option_help={"task_id": "Show only what was stored for this task."},
)  # fmt: skip
def list_artifacts(
    task_id: Text | None = None,
    *,
    limit: Limit | None = None,
    project: str | None = None,
) -> list[Artifact]:
    """List what is stored for a project, newest first, with its task and tool.

    Equal outputs are stored once; each task and tool that stored one has an entry of its own.

    Args:
        task_id: the task whose outputs are wanted; all when not given.
        limit: the maximum number of outputs to return; all when not given.
        project: their project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
        OSError: the folder cannot be read.
    """
    from trackrecord.artifacts.client import open_artifacts

    outputs = open_artifacts(process_settings(), project)
    found = outputs.all() if task_id is None else outputs.of_task(task_id, limit)
    return [Artifact.of(each) for each in [*found][:limit]]


@ARTIFACTS.offers("GET /artifacts/{artifact_id}", needs_store=False)
def read_artifact(
    *,
    artifact_id: ArtifactId,
    lines: str | None = None,
    bytes: str | None = None,  # noqa: A002 - what it is called everywhere else
    project: str | None = None,
) -> ArtifactPage:
    """Return a stored output, or a part of it, as much of it as fits a page.

    Args:
        artifact_id: the artifact's id.
        lines: the first and the last line, counted from 1, as `1:100`.
        bytes: the first and the last byte, counted from 0, as `0:99`.
        project: its project.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    from trackrecord.artifacts.client import open_artifacts

    if lines is not None and bytes is not None:
        message = "ask for lines or for bytes, not for both"
        raise InvalidRequest(message)
    try:
        if lines is not None:
            wanted = Range.parse("lines", lines)
        else:
            wanted = Range("bytes", 0) if bytes is None else Range.parse("bytes", bytes)
    except ValueError as error:
        raise InvalidRequest(str(error)) from None
    settings = process_settings()
    whole = open_artifacts(settings, project).get(artifact_id)
    page = page_of(artifact_id, whole, wanted, PAGE_BYTES)
    return ArtifactPage.of(page, whole)


@ARTIFACTS.offers("POST /artifacts", needs_store=False, permission="write", status=201)
def store_artifact(
    *,
    content: Text,
    encoding: Literal["utf-8", "base64"] = "utf-8",
    task_id: str | None = None,
    tool: str | None = None,
    project: str | None = None,
) -> StoredArtifact:
    """Store an output whole; the answer has the summary that can take its place in a prompt.

    Args:
        content: the output.
        encoding: how the content is written: "utf-8" or "base64".
        task_id: the task that the output came up in.
        tool: the tool whose output it is.
        project: its project.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    from trackrecord.artifacts.client import store_output

    try:
        data = content.encode() if encoding == "utf-8" else b64decode(content, validate=True)
    except (NotBase64, ValueError):
        message = "content is not base64"
        raise InvalidRequest(message) from None
    settings = process_settings()
    stored = store_output(settings, project or settings.project, data, task_id=task_id, tool=tool)
    return StoredArtifact.taken(stored, stored.told, task_id=task_id, tool=tool)
