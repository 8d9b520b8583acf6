"""How HTTP shows runs of the benchmark."""

from __future__ import annotations

from typing import Any


def run_document(run: Any) -> dict[str, Any]:  # noqa: ANN401 - imported with the store
    """Return a run of the benchmark with its changes as JSON."""
    document: dict[str, Any] = run.to_document() | {"changes": run.changes}
    return document
