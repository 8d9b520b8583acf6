"""Facts: counts over the episodes of a signature."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import msgspec
from sqlalchemy import CompoundSelect, Connection, bindparam, delete, select, union_all

from trackrecord.learning.competences.episodes.tally import EpisodeTally

from ..database.upsert import Columns, Upsert
from .tables import digest_of, signature_facts


class FactKind(StrEnum):
    """The subject of a fact, which decides what its text is.

    An order is a JSON array of the tools; an argument one of tool, name and type; conditions one of
    the trigger's signal and the conditions' own canonical JSON. The others are the text itself.
    """

    ORDER = "order"
    ARGUMENT = "argument"
    TRIGGER = "trigger"
    CONDITIONS = "conditions"
    FAILURE_MODE = "failure_mode"
    SPEAKER = "speaker"


@dataclass(frozen=True)
class FactLimits:
    """The numbers of facts of each kind read for one signature, the most frequent first."""

    orders: int = 100
    arguments: int = 2000
    triggers: int = 20
    conditions: int = 100
    failure_modes: int = 10
    speakers: int = 200

    def by_kind(self) -> dict[FactKind, int]:
        """The limit of each kind."""
        return {
            FactKind.ORDER: self.orders,
            FactKind.ARGUMENT: self.arguments,
            FactKind.TRIGGER: self.triggers,
            FactKind.CONDITIONS: self.conditions,
            FactKind.FAILURE_MODE: self.failure_modes,
            FactKind.SPEAKER: self.speakers,
        }


def add_facts(connection: Connection, tallies: Mapping[int, EpisodeTally]) -> None:
    """Add the facts of tallies to those on record, by the row of their signature."""
    rows = [
        (signature_id, kind.value, digest_of(text), text, successes, failures, successes + failures)
        for signature_id, tally in tallies.items()
        for kind, text, successes, failures in _facts_of(tally)
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


def read_facts(
    connection: Connection, tallies: Mapping[int, EpisodeTally], limits: FactLimits
) -> None:
    """Add the facts on record to tallies, by the row of their signature."""
    query = _query(limits)
    for signature_id, tally in tallies.items():
        for kind, text, successes, failures in connection.execute(query, {"of": signature_id}):
            _fill[kind](tally, text, successes, failures)


@lru_cache(maxsize=8)
def _query(limits: FactLimits) -> CompoundSelect[Any]:
    # Built once: building it takes far longer than executing it.
    table = signature_facts.c
    return union_all(
        *(
            select(
                select(table.kind, table.text, table.successes, table.failures)
                .where(table.signature_id == bindparam("of"), table.kind == kind.value)
                .order_by(table.uses.desc(), table.digest.desc())
                .limit(limit)
                .subquery()
            )
            for kind, limit in limits.by_kind().items()
        )
    )


_Fact = tuple[FactKind, str, int, int]
_json = msgspec.json.Encoder()
_order = msgspec.json.Decoder(tuple[str, ...])
_argument = msgspec.json.Decoder(tuple[str, str, str])
_pair = msgspec.json.Decoder(tuple[str, str])


def _text(value: object) -> str:
    return _json.encode(value).decode()


def _facts_of(tally: EpisodeTally) -> Iterable[_Fact]:
    for order, count in tally.orders.items():
        yield FactKind.ORDER, _text(order), count, 0
    for argument, count in tally.arguments.items():
        yield FactKind.ARGUMENT, _text(argument), count, 0
    for signal in tally.trigger_successes.keys() | tally.trigger_failures.keys():
        counts = tally.trigger_successes[signal], tally.trigger_failures[signal]
        yield FactKind.TRIGGER, signal, *counts
    for conditions, count in tally.conditions.items():
        yield FactKind.CONDITIONS, _text(conditions), count, 0
    for failure_mode, count in tally.failure_modes.items():
        yield FactKind.FAILURE_MODE, failure_mode, 0, count
    for speaker in tally.speakers.keys() | tally.failed_speakers.keys():
        yield FactKind.SPEAKER, speaker, tally.speakers[speaker], tally.failed_speakers[speaker]


def _fill_order(tally: EpisodeTally, text: str, successes: int, _failures: int) -> None:
    tally.orders[_order.decode(text)] += successes


def _fill_argument(tally: EpisodeTally, text: str, successes: int, _failures: int) -> None:
    tally.arguments[_argument.decode(text)] += successes


def _fill_trigger(tally: EpisodeTally, text: str, successes: int, failures: int) -> None:
    tally.trigger_successes[text] += successes
    tally.trigger_failures[text] += failures


def _fill_conditions(tally: EpisodeTally, text: str, uses: int, _failures: int) -> None:
    tally.conditions[_pair.decode(text)] += uses


def _fill_failure_mode(tally: EpisodeTally, text: str, _successes: int, failures: int) -> None:
    tally.failure_modes[text] += failures


def _fill_speaker(tally: EpisodeTally, text: str, successes: int, failures: int) -> None:
    tally.speakers[text] += successes
    tally.failed_speakers[text] += failures


_fill: dict[str, Callable[[EpisodeTally, str, int, int], None]] = {
    FactKind.ORDER: _fill_order,
    FactKind.ARGUMENT: _fill_argument,
    FactKind.TRIGGER: _fill_trigger,
    FactKind.CONDITIONS: _fill_conditions,
    FactKind.FAILURE_MODE: _fill_failure_mode,
    FactKind.SPEAKER: _fill_speaker,
}
