"""Ids of outcomes as tables show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .screen import on_terminal, shown_ids

if TYPE_CHECKING:
    from sqlalchemy import Connection


def outcome_ids(connection: Connection, project: str, ids: Sequence[str]) -> dict[str, str]:
    """Return each id as a table shows it: short on a terminal, whole in a pipe."""
    from trackrecord.resources.reports.runs import outcome_ids_for_tables

    known = outcome_ids_for_tables(connection, project, ids) if on_terminal() else ()
    return shown_ids(ids, known)
