"""Entries of the stream: reading them, their reports, and the result of learning them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec
import redis
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import StoreUnavailable, StoreUnfit
from trackrecord.inflight.retry_record import RetryTexts
from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.redis.fleet_counts import RefusedAs
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.store.database.engine import writing
from trackrecord.store.outcomes.forgotten import Kind as ForgottenKind
from trackrecord.store.outcomes.forgotten import forgotten_among, share_projects
from trackrecord.wire.kinds import KINDS, Kind, KindOfReport
from trackrecord.wire.outcome_scorer import OutcomeScorer

# One entry as redis-py hands it on; its fields are None when it was deleted meanwhile.
Entry = tuple[bytes, Mapping[bytes, bytes] | None]


@dataclass(frozen=True)
class RefusedEntry:
    """An entry that cannot be learnt.

    Attributes:
        entry_id: its id in the stream.
        fields: its fields, unchanged.
        reason: the reason, in one line that repeats nothing of the content.
        counted_as: the kind of the reason.
    """

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    reason: str
    counted_as: RefusedAs = "invalid"


class ReceivedEntry(msgspec.Struct, frozen=True, gc=False):
    """An entry that was read.

    Attributes:
        entry_id: its id in the stream.
        fields: its fields, unchanged.
        received_at: when Redis received it, seconds since the epoch.
    """

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    received_at: float

    @property
    def default_id(self) -> str:
        """Return the id of a report without one: the same whenever the entry is delivered again."""
        return f"stream:{self.entry_id.decode()}"

    def refused(self, reason: str, counted_as: RefusedAs = "invalid") -> RefusedEntry:
        """Return this entry as one that cannot be learnt."""
        return RefusedEntry(self.entry_id, self.fields, reason, counted_as)


class ProjectReport(Protocol):
    """A report that names its project."""

    @property
    def project(self) -> str:
        """The project's name."""


Report = TypeVar("Report")
NamedReport = TypeVar("NamedReport", bound=ProjectReport)


class DecodedEntry(msgspec.Struct, Generic[Report], frozen=True, gc=False):
    """An entry and its report."""

    entry: ReceivedEntry
    report: Report

    def id_of(self, kind: ForgottenKind) -> str:
        """Return the id of a report of this kind; without one of its own, that of its entry."""
        return getattr(self.report, f"{kind}_id") or self.entry.default_id


@dataclass(frozen=True)
class IntakeContext:
    """The servers and rules that entries are decoded and learnt with.

    Attributes:
        engine: the store.
        client: a patient Redis client.
        settings: sizes and rules.
        scorer: scores outcomes.
        retry_texts: writes what the retries of tasks in flight read.
    """

    engine: Engine
    client: redis.Redis
    settings: DaemonSettings
    scorer: OutcomeScorer
    retry_texts: RetryTexts


@dataclass
class IntakeResult:
    """The result of learning from some entries.

    Attributes:
        counts: how many entries ended how.
        refused: the entries for the dead letters.
        held: the ids of entries that stay pending, because Redis has no room for what they report.
        projects: the projects that changed.
    """

    counts: Counter[str] = field(default_factory=Counter)
    refused: list[RefusedEntry] = field(default_factory=list)
    held: set[bytes] = field(default_factory=set)
    projects: set[str] = field(default_factory=set)

    def add(self, other: IntakeResult) -> None:
        """Add the result of other entries."""
        self.counts.update(other.counts)
        self.refused += other.refused
        self.held |= other.held
        self.projects |= other.projects


@dataclass(frozen=True, eq=False)
class EntryKind(Generic[Report]):
    """One kind of entry.

    Attributes:
        name: its name on the wire.
        decode: returns the report in a body. Raises InvalidEntry.
        take_in: learns reports; one that comes again changes nothing. Raises StoreUnavailable: the
            database is away, or refuses what nothing is wrong with; all of it stays pending.
    """

    name: Kind
    decode: Callable[[bytes, ReceivedEntry, IntakeContext], Report]
    take_in: Callable[[Sequence[DecodedEntry[Report]], IntakeContext], IntakeResult]

    @property
    def on_the_wire(self) -> KindOfReport:
        """The field of its body, and the name that its entries are counted under."""
        return KINDS[self.name]


def by_project(
    decoded: Iterable[DecodedEntry[NamedReport]],
) -> Iterator[tuple[str, list[DecodedEntry[NamedReport]]]]:
    """Yield the entries of each project, the projects in the order of their names."""
    found: defaultdict[str, list[DecodedEntry[NamedReport]]] = defaultdict(list)
    for each in decoded:
        found[each.report.project].append(each)
    yield from sorted(found.items(), key=lambda pair: pair[0])


@contextmanager
def writing_entries(engine: Engine, kind: Kind) -> Iterator[Connection]:
    """Open a writing transaction for reports that are known to be valid.

    Args:
        engine: the store.
        kind: what the reports are.

    Raises:
        StoreUnavailable: the database is away, or refuses them.
    """
    try:
        with writing(engine) as connection:
            yield connection
    except SQLAlchemyError as error:
        message = f"the database refuses {KINDS[kind].counted_as} ({type(error).__name__})"
        raise StoreUnavailable(message) from error


def without_forgotten(
    connection: Connection,
    kind: ForgottenKind,
    decoded: Sequence[DecodedEntry[NamedReport]],
) -> list[DecodedEntry[NamedReport]]:
    """Leave out the reports that a person has forgotten.

    Until the transaction ends, none of the projects is forgotten.
    """
    named = [((each.report.project, each.id_of(kind)), each) for each in decoded]
    share_projects(connection, {project for (project, _), _ in named})
    forgotten = forgotten_among(connection, kind, {name for name, _ in named})
    return [each for name, each in named if name not in forgotten]


@lru_cache(maxsize=10_000)
def keep_name(home: Path, project: str, *, is_captured: bool) -> None:
    """Keep the name of a project that only programs named from the repositories that have it."""
    claims = ProjectClaims(home)
    with suppress(StoreUnfit):  # a home that cannot be written has none
        if is_captured and project != DEFAULT_PROJECT:
            claims.note_captured(project)
        elif project != DEFAULT_PROJECT:
            claims.reserve(project)
