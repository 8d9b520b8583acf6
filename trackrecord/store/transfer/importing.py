"""Importing an export: a project that is not there yet, with everything that was known of it.

One transaction: either the whole project is there afterwards or nothing of it, wherever the process
was killed and whatever is wrong with the file.

Import the rows of an export: read, check, renumber, write.

Checks of an export's values, beyond the types of the columns.

An export may come from anybody. What the product decodes when it reads a row is decoded here first,
and what must be one of several words is one of them.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Raw
from sqlalchemy import Column, Connection, Engine, Table, insert, select, update

from trackrecord.errors import ImportFormatError, InvalidOutcome, TransferRefused
from trackrecord.learning.competences.record import Competence, competence_id
from trackrecord.learning.competences.rules import Status
from trackrecord.learning.memories.rules import MemoryRules, MemoryType
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.store.advice.lesson_decisions import LessonAction
from trackrecord.store.advice.runs import list_again
from trackrecord.store.advice.tables import (
    effect_decisions,
    exposures,
    hints,
    lesson_decisions,
    runs,
    tried_calls,
)
from trackrecord.store.competences.removed import StoredTally
from trackrecord.store.competences.selection.selection_index import write_numbers
from trackrecord.store.competences.tables import (
    competence_history,
    competences,
    consolidation_runs,
    removed_episodes,
)
from trackrecord.store.database.engine import dialect_of, writing
from trackrecord.store.intake import earlier
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.ledger.receipts import FEEDBACK, OUTCOME, REMOVED, check_rows, pack, unpack
from trackrecord.store.ledger.subjects import SPEAKER_ITEM
from trackrecord.store.ledger.tables import items, receipts
from trackrecord.store.ledger.upkeep import add_up
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.similar import lock_memories, mark_new
from trackrecord.store.memories.tables import memories, memory_changes
from trackrecord.store.outcomes.forgotten import (
    Kind,
    digest_of_subject,
    forgotten_among,
    forgotten_since,
    share_projects,
)
from trackrecord.store.outcomes.projects import note_change
from trackrecord.store.outcomes.recorded_rules import read_bases
from trackrecord.store.outcomes.tables import (
    feedback,
    outcome_entries,
    outcomes,
    project_imports,
    projects,
    recorded_rules,
)
from trackrecord.store.patterns.tables import pattern_decisions
from trackrecord.wire.outcome import decode_stored
from trackrecord.wire.run_digest import patterns_of
from trackrecord.wire.subject import Subject, What
from trackrecord.wire.tried_calls import check_tried

from .lines import LONGEST_HEADER, LONGEST_LINE, End, Header, RowReader, is_header, read_header
from .subjects import (
    EARLIER,
    MADE_AGAIN,
    SUMMED,
    exported_columns,
    exported_tables,
    has_rows,
    imported_tables,
    is_numbered,
    reference_of,
)

_ID: Final = re.compile(rb"skill-[0-9a-f]{24}")
_DIGEST_BYTES: Final = 16
_record = msgspec.json.Decoder(Competence)


class _Named(msgspec.Struct):
    """The references of a line to records: a signature by its name, a record by its id."""

    table: str = ""
    name: Any = None
    id: Any = None
    competence_id: Any = None


class Renaming:
    """Rewrite an export of one project as one of another project.

    Args:
        before: the project that was exported.
        after: the project that is imported.
        lines: those of the export, read once to learn the ids of records.
    """

    def __init__(self, before: str, after: str, lines: Iterable[bytes]) -> None:
        self._after = after
        self._ids: dict[bytes, bytes] = {}
        decode = msgspec.json.Decoder(_Named).decode
        others: set[str] = set()
        for line in lines:
            if b"signatures" not in line and not _ID.search(line):
                continue
            try:
                named = decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue  # whoever reads the line next says what is wrong
            if named.table == "signatures" and isinstance(named.name, str):
                old, new = (competence_id(each, named.name) for each in (before, after))
                self._ids[old.encode()] = new.encode()
            elif named.table in ("competences", "competence_history"):
                others |= {
                    each for each in (named.id, named.competence_id) if isinstance(each, str)
                }
        for other in others:
            self._ids.setdefault(other.encode(), self._made_by_hand(other))
        self._rewrite: dict[Column[Any], Callable[[Any], Any]] = {
            outcomes.c.body: self._body,
            outcome_entries.c.body: self._body,
            competences.c.record: self._as_record,
            competence_history.c.snapshot: self._as_record,
        }

    def line(self, line: bytes) -> bytes:
        """Return a line with the records' new ids."""
        return _ID.sub(lambda found: self._ids.get(found[0], found[0]), line)

    def values(self, values: dict[Column[Any], Any]) -> dict[Column[Any], Any]:
        """Return the values of a row with the project's new name."""
        renamed = {
            column: value
            if value is None or column not in self._rewrite
            else self._rewrite[column](value)
            for column, value in values.items()
        }
        if outcome_entries.c.digest in renamed:
            body = renamed[outcome_entries.c.body]
            renamed[outcome_entries.c.digest] = blake2b(body, digest_size=_DIGEST_BYTES).digest()
        return renamed

    def _made_by_hand(self, old: str) -> bytes:
        digest = sha256(f"{len(self._after)}:{self._after}{old}".encode()).hexdigest()
        return f"skill-{digest[:24]}".encode()

    def _body(self, body: bytes) -> bytes:
        fields = msgspec.json.decode(body, type=dict[str, Raw])
        fields["project"] = Raw(msgspec.json.encode(self._after))
        return msgspec.json.encode(fields)

    def _as_record(self, record: str) -> str:
        renamed = replace(_record.decode(record), project=self._after)
        return msgspec.json.encode(renamed).decode()


Check = Callable[[Any], object]


def _json(kind: Any) -> Check:  # noqa: ANN401 - what msgspec takes for a type
    return msgspec.json.Decoder(kind).decode


def _effect(action: str) -> None:
    if action not in ("holdout", "withdraw", "restore"):
        raise ValueError(action)


def _probability(value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(value)


_CHECKS: Final[dict[Column[Any], Check]] = {
    outcomes.c.body: decode_stored,
    outcomes.c.verdict: Verdict,
    outcome_entries.c.body: decode_stored,
    receipts.c.rows: check_rows,
    runs.c.digest: patterns_of,
    tried_calls.c.digest: check_tried,
    recorded_rules.c.rules: _json(dict[str, Any]),
    items.c.decided_maturity: Maturity,
    pattern_decisions.c.action: DecisionAction,
    memories.c.type: MemoryType,
    memory_changes.c.type: MemoryType,
    competences.c.status: Status,
    competences.c.record: _json(Competence),
    removed_episodes.c.tally: _json(StoredTally),
    competence_history.c.snapshot: _json(Competence),
    consolidation_runs.c.skipped: _json(dict[str, int]),
    exposures.c.entries: _json(tuple[str, ...]),
    effect_decisions.c.action: _effect,
    hints.c.probability: _probability,
    lesson_decisions.c.action: LessonAction,
}


def checks_of(table: Table) -> list[tuple[Column[Any], Check]]:
    """Return the columns of a table whose values are checked, each with its check."""
    return [(column, _CHECKS[column]) for column in table.c if column in _CHECKS]


def check_values(values: dict[Column[Any], Any], checks: list[tuple[Column[Any], Check]]) -> None:
    """Check the values of a row.

    Args:
        values: by column.
        checks: those of the table.

    Raises:
        ValueError: one of them is not what its column holds; the text names it.
    """
    for column, check in checks:
        value = values[column]
        if value is None:
            continue
        try:
            check(value)
        except (ValueError, InvalidOutcome, RecursionError) as error:
            reason = str(error) or "too deeply nested"
            message = f"`{column.name}` of {column.table.name} is not valid ({reason})"
            raise ValueError(message) from None


class Numbering:
    """The new numbers of one table's rows.

    Sixteen bytes a row: millions of outcomes fit into memory.

    Args:
        table: the table.
    """

    def __init__(self, table: Table) -> None:
        self._name = table.name
        self._old = array("q")
        self._new = array("q")

    def announce(self, number: int) -> None:
        """Note the number of the next row.

        Raises:
            ValueError: it is not larger than the one before it.
        """
        if self._old and number <= self._old[-1]:
            message = f"the ids of {self._name} must rise, and {number} comes after {self._old[-1]}"
            raise ValueError(message)
        self._old.append(number)

    def settle(self, numbers: Sequence[int]) -> None:
        """Give rows that were announced, and have no new number yet, their new ones."""
        self._new.extend(numbers)

    def of(self, number: int) -> int:
        """Return the new number of a row.

        Raises:
            ValueError: no row with this number came before.
        """
        place = bisect_left(self._old, number)
        if place == len(self._new) or self._old[place] != number:
            message = f"there is no row {number} of {self._name} in the lines before"
            raise ValueError(message)
        return self._new[place]


# Told how many bytes of the file were read.
Report = Callable[[int], None]

_AT_ONCE: Final = 2000
_MOST_BYTES: Final = 8 * 1024 * 1024
_FORGOTTEN_AS: Final[dict[Table, Kind]] = {
    exposures: "exposure",
    feedback: "feedback",
    hints: "hint",
    memories: "memory",
    outcome_entries: "outcome",
    outcomes: "outcome",
}
# Columns that name what a person may have forgotten as a whole.
_SUBJECTS: Final[dict[str, What]] = {"source": "source", "speaker": "source", "task_id": "task"}


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines after the header with their numbers.

    Raises:
        ImportFormatError: a line is too long.
    """
    for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), start=2):
        if len(line) > LONGEST_LINE:
            message = f"line {number} is longer than {LONGEST_LINE} bytes"
            raise ImportFormatError(message)
        yield number, line


class _Form:
    """The steps of importing each row of a table.

    Args:
        table: the table.
        numbers: the new numbers of rows, by table.
        project_id: the project that is imported.
    """

    def __init__(self, table: Table, numbers: dict[str, Numbering], project_id: int) -> None:
        self.table = table
        self._numbers = numbers
        self.own = numbers.get(table.name) if table is not projects else None
        self.checks = checks_of(table)
        told = exported_columns(table)
        self._references = [
            (column, numbers[parent.name])
            for column in told
            if (parent := reference_of(column)) is not None
        ]
        self._values = {
            column: project_id if reference_of(column) is projects else MADE_AGAIN[column]
            for column in table.c
            if column not in told and table is not projects
        }
        self.columns = tuple(table.c)

    def renumber(self, values: dict[Column[Any], Any]) -> None:
        """Make a row refer to this store's rows, and add the values that exports lack.

        Raises:
            ValueError: it refers to a row that did not come before it.
        """
        if self.own is not None:
            self.own.announce(values[self.table.c.id])
        for column, numbers in self._references:
            number = values[column]
            if number is not None and (number >= 0 or column not in SUMMED):
                values[column] = numbers.of(number)
        values |= self._values
        if self.table is receipts:
            self._renumber_receipt(values)

    def _renumber_receipt(self, values: dict[Column[Any], Any]) -> None:
        of = {OUTCOME: outcomes, FEEDBACK: feedback, REMOVED: items}.get(values[receipts.c.kind])
        if of is None:
            message = "`kind` of receipts is not valid"
            raise ValueError(message)
        number = self._numbers[of.name].of(values[receipts.c.number])
        own = self._numbers[items.name]
        speaker, rows = unpack(values[receipts.c.rows])
        rows = tuple((own.of(item), *rest) for item, *rest in rows)  # type: ignore[misc]
        values |= {receipts.c.number: number, receipts.c.rows: pack(own.of(speaker), rows)}


class RowImporter:
    """The rows of one file, on their way into the store.

    Args:
        connection: within a writing transaction that shares both projects.
        project_id: the row of the project that is imported.
        renaming: gives it another name than it was exported with; None: it keeps its name.
        name: its name here.
        header: the first line of the file.
    """

    def __init__(
        self,
        connection: Connection,
        project_id: int,
        renaming: Renaming | None,
        name: str,
        header: Header,
    ) -> None:
        self._connection = connection
        self._project_id = project_id
        self._renaming = renaming
        # What was forgotten under either name is not taken in.
        self._names = {name, header.project}
        self._acts = forgotten_since(connection, header.exported_at)
        self._reader = RowReader()
        tables = imported_tables()
        numbers = {table.name: Numbering(table) for table in tables if is_numbered(table)}
        self._forms = {table: _Form(table, numbers, project_id) for table in tables}
        self._rows = {table.name: 0 for table in tables}
        self._is_earlier = False
        self._form: _Form | None = None
        self._batch: list[dict[Column[Any], Any]] = []
        self._size = 0

    def all(self, file: BinaryIO, report: Report) -> dict[str, int]:
        """Take all rows of a file; return how many there were, by table."""
        number = 1
        for number, line in lines_of(file):
            try:
                end = self._take(line)
            except ValueError as error:
                message = f"line {number}: {error}; nothing was imported"
                raise ImportFormatError(message) from None
            if self._is_full():
                report(file.tell())
                self._flush()
            if end is not None:
                self._flush()
                self._check_end(end, number)
                return self._rows
        message = f"the export ends after line {number} and is not complete; nothing was imported"
        raise ImportFormatError(message)

    def _take(self, line: bytes) -> End | None:
        """Take one line.

        Raises:
            ValueError: it is not a line of an export.
        """
        if self._renaming is not None:
            line = self._renaming.line(line)
        read = self._reader.read(line)
        if isinstance(read, End):
            return read
        table, values = read
        self._rows[table.name] += 1
        if table in EARLIER:
            self._begin_earlier()
            if table is earlier.patterns:
                table, values = items, earlier.item_of(values)
        form = self._forms[table]
        check_values(values, form.checks)
        if self._renaming is not None:
            values = self._renaming.values(values)
        if form is not self._form:
            self._flush()
            self._form = form
        form.renumber(values)
        self._batch.append(values)
        self._size += len(line)
        return None

    def _begin_earlier(self) -> None:
        if not self._is_earlier:
            self._is_earlier = True
            earlier.metadata.create_all(self._connection, checkfirst=False)

    def add_up(self) -> None:
        """Make the totals of what was taken."""
        if self._is_earlier:
            earlier.fill(self._connection, self._project_id)
            earlier.metadata.drop_all(self._connection, checkfirst=False)
            return
        bases = read_bases(self._connection, self._project_id)
        if bases is not None:
            add_up(self._connection, self._project_id, bases)

    def _is_full(self) -> bool:
        return len(self._batch) >= _AT_ONCE or self._size >= _MOST_BYTES

    def _flush(self) -> None:
        form, batch = self._form, self._batch
        self._batch, self._size = [], 0
        if form is None or not batch:
            return
        table = form.table
        if table is projects:
            self._connection.execute(
                update(projects).where(projects.c.id == self._project_id).values(batch[-1])
            )
            return
        self._refuse_forgotten(table, batch)
        dialect = dialect_of(self._connection)
        if form.own is not None:
            numbers = dialect.new_ids(self._connection, table, len(batch))
            form.own.settle(numbers)
            for values, number in zip(batch, numbers, strict=True):
                values[table.c.id] = number
        rows = [tuple([values[column] for column in form.columns]) for values in batch]
        dialect.load(self._connection, table, form.columns, rows)

    def _refuse_forgotten(self, table: Table, batch: list[dict[Column[Any], Any]]) -> None:
        """Refuse to import what was forgotten.

        Raises:
            TransferRefused: a row of the batch has an id that was forgotten, or names a source or a
                task that was forgotten since the export was made.
        """
        found: set[tuple[str, str]] = set()
        if (kind := _FORGOTTEN_AS.get(table)) is not None:
            ids = {values[table.c[f"{kind}_id"]] for values in batch}
            names = {(project, each) for project in self._names for each in ids}
            forgotten = forgotten_among(self._connection, kind, names)
            found |= {(kind, name) for _, name in forgotten}
        for column, what in _SUBJECTS.items() if self._acts else ():
            if column in table.c:
                named = {values[table.c[column]] for values in batch} - {None}
                found |= {(what, name) for name in named if self._is_forgotten(what, name)}
        if self._acts and table is items:
            named = {of[items.c.name] for of in batch if of[items.c.subject] == SPEAKER_ITEM}
            found |= {("source", name) for name in named if self._is_forgotten("source", name)}
        if found:
            what_it_is, name = min(found)
            message = (
                f"the export holds the {what_it_is} {name!r}, which was forgotten here: "
                "forget it where the export comes from, and export again; nothing was imported"
            )
            raise TransferRefused(message)

    def _is_forgotten(self, what: What, name: str) -> bool:
        subjects = (Subject(what, project, name) for project in self._names)
        return any(digest_of_subject(subject) in self._acts for subject in subjects)

    def _check_end(self, end: End, number: int) -> None:
        told = {name: count for name, count in end.rows.items() if count}
        if told != {name: count for name, count in self._rows.items() if count}:
            message = (
                f"line {number}: the row counts in the last line do not match the rows read: lines "
                "are missing or doubled; nothing was imported"
            )
            raise ImportFormatError(message)


@dataclass(frozen=True)
class ImportedProject:
    """The result of an import.

    Attributes:
        project: the project.
        rows: how many rows it got, by table.
        was_there: whether the same export was imported before, so that nothing changed.
    """

    project: str
    rows: dict[str, int]
    was_there: bool = False


def is_export(path: Path) -> bool:
    """Return whether a file is an export."""
    try:
        with path.open("rb") as file:
            return is_header(file.readline(LONGEST_HEADER))
    except OSError:
        return False  # whoever reads it next says what is wrong


def import_project(
    engine: Engine,
    path: Path,
    project: str | None,
    rules: MemoryRules,
    *,
    now: float,
    report: Report,
) -> ImportedProject:
    """Import an export into a project without data.

    Args:
        engine: the store.
        path: the file.
        project: the project; None for the name of the one that was exported.
        rules: of memories, which are compared anew.
        now: seconds since the epoch.
        report: told how far it has come.

    Raises:
        ImportFormatError: a line is not one of an export; the message names it.
        SchemaTooNew: the export is of a newer version.
        TransferRefused: the project has data of its own, or the export holds what was forgotten.
        StoreUnavailable: the database cannot be used.
    """
    try:
        with path.open("rb") as file:
            header = read_header(file.readline(LONGEST_HEADER))
            name = project or header.project
            with writing(engine) as connection:
                share_projects(connection, [name, header.project])
                project_id = ensure_projects(connection, [name])[name]
                lock_memories(connection, project_id)
                if _is_imported(connection, project_id, header):
                    return ImportedProject(name, {}, was_there=True)
                _refuse_used(connection, project_id, name)
                renaming = _renaming(path, header, name)
                taking = RowImporter(connection, project_id, renaming, name, header)
                rows = taking.all(file, report)
                taking.add_up()
                _complete(connection, project_id, rules, now=now)
                connection.execute(
                    insert(project_imports).values(
                        project_id=project_id, export_id=header.export_id, imported_at=now
                    )
                )
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ImportFormatError(message) from None
    index_past_tasks(engine)
    return ImportedProject(name, rows)


def _is_imported(connection: Connection, project_id: int, header: Header) -> bool:
    query = select(project_imports.c.export_id).where(
        project_imports.c.project_id == project_id,
        project_imports.c.export_id == header.export_id,
    )
    return connection.execute(query).first() is not None


def _refuse_used(connection: Connection, project_id: int, name: str) -> None:
    for table in exported_tables():
        if table is not projects and has_rows(connection, table, project_id):
            message = (
                f"project {name!r} has data already, and an export is imported as a whole: "
                "import it as another project with --project NAME"
            )
            raise TransferRefused(message)


def _renaming(path: Path, header: Header, name: str) -> Renaming | None:
    if name == header.project:
        return None
    with path.open("rb") as file:
        file.readline(LONGEST_HEADER)
        return Renaming(header.project, name, (line for _, line in lines_of(file)))


def _complete(connection: Connection, project_id: int, rules: MemoryRules, *, now: float) -> None:
    """Recompute values derived from the rows, and have rankings refreshed."""
    mark_new(connection, project_id, rules)
    after = ""
    while True:
        query = (
            select(competences.c.id, competences.c.record)
            .where(competences.c.project_id == project_id, competences.c.id > after)
            .order_by(competences.c.id)
            .limit(_AT_ONCE)
        )
        rows = connection.execute(query).all()
        if not rows:
            break
        write_numbers(connection, project_id, [_record.decode(row.record) for row in rows], {})
        after = rows[-1].id
    list_again(connection, project_id)
    note_change(connection, project_id, now)
