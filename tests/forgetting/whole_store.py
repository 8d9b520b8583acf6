"""All that a store holds of a project, in a form that two stores can be compared by.

Rows are named by what they are about instead of by their numbers, and decayed sums are told as of
one moment, so that landmarks do not matter.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Engine, select

from trackrecord.store.advice.tables import (
    effect_decisions,
    exposures,
    hints,
    lesson_decisions,
    runs,
    tried_calls,
)
from trackrecord.store.competences.tables import (
    competence_credits,
    competence_history,
    competence_numbers,
    competence_words,
    competences,
    episodes,
    signature_facts,
    signatures,
)
from trackrecord.store.database.engine import reading
from trackrecord.store.ledger.receipts import read_receipts
from trackrecord.store.ledger.subjects import PATTERN, subject_of
from trackrecord.store.ledger.tables import items, totals
from trackrecord.store.memories.tables import memories, memory_changes, memory_sources, past_tasks
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.recorded_rules import read_bases
from trackrecord.store.outcomes.tables import (
    feedback,
    outcome_commits,
    outcome_entries,
    outcomes,
    projects,
    waiting_episodes,
    waiting_retractions,
)
from trackrecord.store.patterns.tables import pattern_decisions, pattern_tags

Rows = list[tuple[Any, ...]]


def whole(
    store: Engine, project: str, *, at: float, leaving_out: Collection[str] = ()
) -> dict[str, Rows]:
    """Return all that is on record of a project, decayed to a moment; nothing if it is unknown.

    Args:
        store: the store.
        project: its name.
        at: the moment.
        leaving_out: tables, and columns of any table, that are left out. Then the times of
            arrival go, too; with "replaced_at", so do the records in whose place others came.
    """
    with reading(store) as connection:
        project_id = project_id_of(connection, project)
        if project_id is None:
            return {}
        tables = _Whole(connection, project_id, at, leaving_out).tables()
    return {name: rows for name, rows in tables.items() if name not in leaving_out}


class _Whole:
    def __init__(
        self, connection: Connection, project_id: int, at: float, leaving_out: Collection[str]
    ) -> None:
        self._leaving_out = leaving_out
        self._connection = connection
        self._project_id = project_id
        self._at = at
        self._bases = read_bases(connection, project_id)

    def tables(self) -> dict[str, Rows]:
        """Return the rows of each table, sorted."""
        outcome = self._names(outcomes, "outcome_id", "replaced_at")
        self._replaced = {number for number, (_, replaced_at) in outcome.items() if replaced_at}
        item = self._names(items, "subject", "name") | {0: (0, "everybody")}
        signature = self._names(signatures, "name")
        memory = self._names(memories, "memory_id")
        own = {"project_id": {}}
        of_outcome = own | {"outcome": outcome}
        found = {
            "projects": self._rows(projects, {"id": {}, "revision": {}}, own=projects.c.id),
            "outcomes": self._rows(outcomes, {"id": {}} | own),
            "outcome_entries": self._rows(outcome_entries, own),
            "outcome_commits": self._rows(outcome_commits, own),
            "feedback": self._rows(feedback, {"id": {}} | own),
            "waiting_episodes": self._rows(waiting_episodes, of_outcome),
            "waiting_retractions": self._rows(waiting_retractions, of_outcome),
            "runs": self._rows(runs, of_outcome),
            "tried_calls": self._rows(tried_calls, of_outcome),
            "exposures": self._rows(exposures, {"id": {}} | own),
            "hints": self._rows(hints, {"id": {}} | own),
            "lesson_decisions": self._rows(lesson_decisions, {"id": {}} | own),
            "effect_decisions": self._rows(effect_decisions, {"id": {}} | own),
            # The states noted last are those of a moment, as is the history of them.
            "items": self._items(
                {"id": {}, "reported_maturity": {}, "reported_inverted": {}} | own
            ),
            "totals": self._totals(item),
            "receipts": self._receipts(item, outcome),
            "pattern_decisions": self._of(pattern_decisions, "pattern_id", item, {"id": {}}),
            "pattern_tags": self._of(pattern_tags, "pattern_id", item, {"id": {}}),
            "signatures": self._rows(signatures, {"id": {}} | own),
            "signature_facts": self._of(signature_facts, "signature_id", signature, {}),
            "episodes": self._rows(episodes, of_outcome | {"signature_id": signature}),
            "competences": self._rows(competences, own | {"signature_id": signature}),
            "competence_numbers": self._rows(competence_numbers, own),
            "competence_words": self._rows(competence_words, own),
            "competence_history": self._rows(competence_history, {"id": {}} | own),
            "competence_credits": self._rows(competence_credits, of_outcome),
            "past_tasks": self._rows(past_tasks, of_outcome),
            "memories": self._rows(memories, {"id": {}, "size_class": {}, "position": {}} | own),
            "memory_sources": self._of(
                memory_sources, "memory", memory, {"at": {}} if self._leaving_out else {}
            ),
            "memory_changes": self._of(memory_changes, "memory", memory, {}),
        }
        # Only of those that someone uses: what is empty is as good as not there.
        empty = [row for row in found["signatures"] if row[2] + row[3] == 0]
        return found | {"signatures": [row for row in found["signatures"] if row not in empty]}

    def _items(self, names: dict[str, Any]) -> Rows:
        """Return the items that something counts for, or that were decided upon."""
        heard = {each.speaker for each in read_receipts(self._connection, self._project_id)}
        counts = items.c.id.in_(select(totals.c.item)) | items.c.id.in_(heard)
        is_seen = counts | items.c.decided_maturity.is_not(None)
        query = select(items).where(items.c.project_id == self._project_id, is_seen)
        return self._told(self._connection.execute(query), names)

    def _totals(self, item: dict[int, Any]) -> Rows:
        query = select(totals).where(totals.c.item.in_(sorted(item)))
        found = []
        for of, speaker, cell, n, mass in self._connection.execute(query):
            basis = self._bases.patterns if subject_of(cell) == PATTERN else self._bases.criteria
            # Sums of some hundreds of weights in another order differ after 12 digits: few enough
            # are left that no value lies between two roundings.
            found.append((item[of], item[speaker], cell, n, round(basis.value(mass, self._at), 6)))
        return sorted(found)

    def _receipts(self, item: dict[int, Any], outcome: dict[int, Any]) -> Rows:
        return sorted(
            (
                round(each.ended_at, 3),
                each.kind,
                item[each.speaker],
                outcome.get(each.number, ("", 0))[0] if each.kind == 0 else "",
                sorted((item[of], *rest) for of, *rest in each.rows),
            )
            for each in read_receipts(self._connection, self._project_id)
        )

    def _names(self, table: Any, *columns: str) -> dict[int, Any]:
        query = select(table).where(table.c.project_id == self._project_id)
        return {
            row.id: tuple(getattr(row, column) for column in columns)
            for row in self._connection.execute(query)
        }

    def _rows(self, table: Any, names: dict[str, Any], *, own: Any = None) -> Rows:
        column = table.c.project_id if own is None else own
        query = select(table).where(column == self._project_id)
        return self._told(self._connection.execute(query), names)

    def _of(self, table: Any, column: str, named: dict[int, Any], names: dict[str, Any]) -> Rows:
        query = select(table).where(table.c[column].in_(sorted(named)))
        return self._told(self._connection.execute(query), {column: named} | names)

    def _is_replaced(self, row: Any) -> bool:
        if row.get("replaced_at"):
            return True
        return row.get("outcome") in self._replaced

    def _told(self, rows: Any, names: dict[str, Any]) -> Rows:
        """Return rows whose numbers are replaced by names; a column without names is left out."""
        found = []
        for row in rows:
            told = []
            if "replaced_at" in self._leaving_out and self._is_replaced(row._mapping):
                continue
            for column, value in row._mapping.items():
                if column in self._leaving_out:
                    continue
                if column in names:
                    if names[column]:
                        told.append(None if value is None else names[column][value])
                elif isinstance(value, float):
                    told.append(float(f"{value:.6g}") if abs(value) < 1e8 else round(value, 3))
                else:
                    told.append(value)
            found.append(tuple(told))
        return sorted(found, key=repr)
