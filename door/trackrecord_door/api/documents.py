"""JSON documents of the values that calls return."""

from typing import Any


def document_of(found: Any) -> Any:  # noqa: ANN401 - whatever a call returns
    """Return an object of `trackrecord` as the JSON that `--json` prints."""
    return found.to_document()
