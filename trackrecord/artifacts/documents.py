"""Stored outputs as JSON objects: the same for every reader."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from .contents import lines_of
from .pages import Page
from .summary.summaries import kind_of_output

if TYPE_CHECKING:
    from .client import StoredOutput


def stored_document(stored: StoredOutput, task_id: str | None, tool: str | None) -> dict[str, Any]:
    """Return an output that was stored just now as a JSON object.

    Args:
        stored: the output.
        task_id: the task that it came up in.
        tool: the tool whose output it is.
    """
    return {
        "id": stored.id,
        "kind": stored.told.kind,
        "size": stored.told.size,
        "lines": stored.told.lines,
        "gone": stored.told.gone,
        "task_id": task_id,
        "tool": tool,
        "summary": stored.summary,
    }


def page_document(page: Page, whole: bytes) -> dict[str, Any]:
    """Return a part of a stored output as a JSON object; what is not UTF-8 is base64.

    Args:
        page: the part.
        whole: the whole output.
    """
    try:
        content, encoding = page.data.decode(), "utf-8"
    except UnicodeDecodeError:
        content, encoding = b64encode(page.data).decode(), "base64"
    return {
        "id": page.id,
        "kind": kind_of_output(whole),
        "size": page.size,
        "lines": lines_of(whole),
        "start": page.start,
        "end": page.start + len(page.data),
        "encoding": encoding,
        "content": content,
    }
