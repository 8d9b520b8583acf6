"""Artifacts: oversized outputs that are stored whole, by their task and tool.

Storing one and reading it back, which needs no store, is with `trackrecord.artifacts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from .checks import Limit, Moment, Text, moment_of
from .paging import Sorting, sorting_of
from .resource import Answer, Instant, Resource

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
        return cls(
            id=kept.id,
            task_id=kept.task_id or None,
            tool=kept.tool or None,
            kind=kept.kind or None,
            size=kept.size,
            stored_at=kept.stored_at,
            kept_until=kept.kept_until,
            summary=kept.summary or None,
        )


def _place(artifact: Artifact) -> str:
    return f"{artifact.id} {artifact.task_id or ''} {artifact.tool or ''}"


_KEYS = sorting_of(
    "artifacts", "id", id="id", task="task_id", tool="tool", kind="kind", size="size",
    stored="stored_at", kept_until="kept_until",
)  # fmt: skip
ARTIFACTS = Resource("artifacts", "Store and return oversized tool outputs.")


@ARTIFACTS.offers(
    "GET /artifacts",
    command="list",
    needs_store=False,
    sorting=Sorting(_KEYS.things, _place, _KEYS.keys),
    in_pages=True,
)
def list_artifacts(
    task_id: Text | None = None,
    *,
    at: Moment | None = None,
    limit: Limit | None = None,
    project: str | None = None,
) -> list[Artifact]:
    """Return the stored outputs with their task, tool and summary, newest first.

    Equal outputs are stored once; each task and tool that stored one has an entry of its own.

    Args:
        task_id: the task whose outputs are wanted; all when not given.
        at: only outputs still there that had been stored last by this moment.
        limit: the maximum number of outputs to return; all when not given.
        project: their project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
        OSError: the folder cannot be read.
    """
    from trackrecord.agent_settings import load_agent_settings
    from trackrecord.artifacts.client import open_outputs

    moment = moment_of(at)
    outputs = open_outputs(load_agent_settings(), project)
    most = limit if moment is None else None
    found = outputs.all() if task_id is None else outputs.of_task(task_id, most)
    wanted = [each for each in found if moment is None or each.stored_at <= moment]
    return [Artifact.of(each) for each in wanted[:limit]]
