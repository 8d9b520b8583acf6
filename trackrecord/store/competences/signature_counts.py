"""Facts: counts over the episodes of a signature."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, bindparam, delete, select, union_all

from trackrecord.learning.competences.episodes.tally import EpisodeTally
from trackrecord.learning.competences.rules import MAX_TRIGGERS, MOST_FAILURE_MODES

from ..database.upsert import Columns, Upsert
from .tables import digest_of, signature_facts


class _FactKind(NamedTuple):
    """A kind of facts: which counters of a tally it keeps, and what its texts say.

    Attributes:
        most: so many are read for one signature, the most frequent first.
        succeeded: the counter of those of successful episodes, or of all.
        failed: that of those of failed ones.
        subject: the type of what the text says as JSON; None where it is the text itself.
    """

    most: int
    succeeded: str | None
    failed: str | None = None
    subject: Any = None

    def counted(self, tally: EpisodeTally) -> Iterator[tuple[str, int, int]]:
        """Yields the texts with how often they were met in episodes that succeeded and failed."""
        won, lost = self._counters(tally)
        for each in won.keys() | lost.keys():
            yield each if self.subject is None else _text(each), won[each], lost[each]

    def fill(self, tally: EpisodeTally, text: str, successes: int, failures: int) -> None:
        """Adds a fact to a tally."""
        subject = text if self.subject is None else _decoder(self.subject)(text)
        won, lost = self._counters(tally)
        won[subject] += successes
        lost[subject] += failures

    def _counters(self, tally: EpisodeTally) -> list[Counter[Any]]:
        names = (self.succeeded, self.failed)
        return [Counter() if name is None else getattr(tally, name) for name in names]


_KINDS: Final[Mapping[str, _FactKind]] = {
    # The tools, in their order.
    "order": _FactKind(100, "orders", subject=tuple[str, ...]),
    # The tool, the argument's name and its type.
    "argument": _FactKind(2000, "arguments", subject=tuple[str, str, str]),
    "trigger": _FactKind(MAX_TRIGGERS, "trigger_successes", "trigger_failures"),
    # The trigger's signal, and the conditions' own canonical JSON.
    "conditions": _FactKind(100, "conditions", subject=tuple[str, str]),
    "failure_mode": _FactKind(MOST_FAILURE_MODES, None, "failure_modes"),
    "speaker": _FactKind(200, "speakers", "failed_speakers"),
}


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()


@cache
def _decoder(kind: Any) -> Callable[[str], Any]:  # noqa: ANN401 - a type of any form
    return msgspec.json.Decoder(kind).decode


def add_facts(connection: Connection, tallies: Mapping[int, EpisodeTally]) -> None:
    """Add the facts of tallies to those on record, by the row of their signature."""
    rows = [
        (signature_id, name, digest_of(text), text, successes, failures, successes + failures)
        for signature_id, tally in tallies.items()
        for name, kind in _KINDS.items()
        for text, successes, failures in kind.counted(tally)
    ]
    _ADD.execute(connection, sorted(rows))


_COLUMNS = tuple(column.name for column in signature_facts.c)


def _added(table: Columns, new: Columns) -> dict[str, Any]:
    return {name: table[name] + new[name] for name in ("successes", "failures", "uses")}


_ADD: Final = Upsert(signature_facts, _COLUMNS, key=_COLUMNS[:3], combine=_added)


def drop_empty_facts(connection: Connection, signature_ids: Sequence[int]) -> None:
    """Remove the facts that no episode of the signatures has any more."""
    table = signature_facts.c
    for signature_id in sorted(signature_ids):
        connection.execute(
            delete(signature_facts).where(table.signature_id == signature_id, table.uses <= 0)
        )


def read_facts(connection: Connection, tallies: Mapping[int, EpisodeTally]) -> None:
    """Add the facts on record to tallies, by the row of their signature."""
    for signature_id, tally in tallies.items():
        for kind, text, successes, failures in connection.execute(_FACTS, {"of": signature_id}):
            _KINDS[kind].fill(tally, text, successes, failures)


# Built once: building it takes far longer than executing it.
_FACTS: Final = union_all(
    *(
        select(
            select(*(signature_facts.c[each] for each in ("kind", "text", "successes", "failures")))
            .where(signature_facts.c.signature_id == bindparam("of"))
            .where(signature_facts.c.kind == name)
            .order_by(signature_facts.c.uses.desc(), signature_facts.c.digest.desc())
            .limit(kind.most)
            .subquery()
        )
        for name, kind in _KINDS.items()
    )
)
