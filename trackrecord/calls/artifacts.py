"""The calls for what is stored of oversized outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited

if TYPE_CHECKING:
    from trackrecord.artifacts.kept_outputs import KeptOutput


def list_artifacts(
    task_id: str | None = None, *, limit: int | None = None, project: str | None = None
) -> list[KeptOutput]:
    """Return the stored outputs with their task, tool and summary, newest first.

    Equal outputs are stored once; each task and tool that stored one has an entry of its own.

    Args:
        task_id: the task whose outputs are wanted; all when not given.
        limit: the maximum number of outputs to return.
        project: their project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
        OSError: the folder cannot be read.
    """
    from trackrecord.agent_settings import load_agent_settings
    from trackrecord.artifacts.client import open_outputs

    outputs = open_outputs(load_agent_settings(), project)
    if task_id is not None:
        return outputs.of_task(task_id, limit)
    return outputs.all()[:limit]


alist_artifacts = awaited(list_artifacts)
