"""HTTP calls for outputs that are stored whole."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from trackrecord.errors import InvalidRequest

if TYPE_CHECKING:
    from trackrecord_door.query_service import QueryService


def read_artifact(
    service: QueryService,
    *,
    artifact_id: str,
    lines: str | None = None,
    bytes: str | None = None,  # noqa: A002 - what it is called everywhere else
    project: str,
) -> Mapping[str, Any]:
    """Return a stored output, or a part of it, as much of it as fits a page.

    Args:
        service: has the settings.
        artifact_id: The artifact's id.
        lines: The first and the last line, counted from 1, as `1:100`.
        bytes: The first and the last byte, counted from 0, as `0:99`.
        project: Its project.
    """
    from trackrecord.artifacts.client import open_artifacts
    from trackrecord.artifacts.documents import page_document
    from trackrecord.artifacts.pages import Range, page_of

    if lines is not None and bytes is not None:
        message = "ask for lines or for bytes, not for both"
        raise InvalidRequest(message)
    try:
        wanted = (
            Range("bytes", 0)
            if lines is None and bytes is None
            else Range.parse("bytes", bytes)
            if bytes is not None
            else Range.parse("lines", lines or "")
        )
    except ValueError as error:
        raise InvalidRequest(str(error)) from None
    whole = open_artifacts(service.settings, project).get(artifact_id)
    page = page_of(artifact_id, whole, wanted, service.settings.artifacts.page_bytes)
    following = page.following
    return page_document(page, whole) | {
        "following": None
        if following is None
        else {"unit": following.unit, "start": following.start, "last": following.last}
    }


def store_artifact(
    service: QueryService,
    *,
    content: str,
    encoding: Literal["utf-8", "base64"] = "utf-8",
    task_id: str | None = None,
    tool: str | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Store an output whole; the answer has the summary that can take its place in a prompt.

    Args:
        service: has the settings.
        content: The output.
        encoding: How the content is written: "utf-8" or "base64".
        task_id: The task that the output came up in.
        tool: The tool whose output it is.
        project: Its project.
    """
    from trackrecord.artifacts.client import store_output
    from trackrecord.artifacts.documents import stored_document

    try:
        data = content.encode() if encoding == "utf-8" else b64decode(content, validate=True)
    except (NotBase64, ValueError):
        message = "content is not base64"
        raise InvalidRequest(message) from None
    stored = store_output(service.settings, project, data, task_id=task_id, tool=tool)
    return stored_document(stored, task_id, tool)
