"""Ids of outcomes as tables show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .screen import on_terminal

if TYPE_CHECKING:
    from sqlalchemy import Connection


def outcome_ids(connection: Connection, project: str, ids: Sequence[str]) -> dict[str, str]:
    """Return each id as a table shows it: short on a terminal, whole in a pipe."""
    from trackrecord.resources.access.short_ids import shortened_run_ids
    from trackrecord.resources.reports.runs import outcome_ids_for_tables

    if not on_terminal():
        return {some_id: some_id for some_id in ids}
    return shortened_run_ids([*ids, *outcome_ids_for_tables(connection, project, ids)])
