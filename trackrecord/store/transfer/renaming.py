"""Importing a project under another name, which occurs in rows and in ids of records."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import blake2b, sha256
from typing import Any, Final

import msgspec
from msgspec import Raw
from sqlalchemy import Column

from trackrecord.learning.competences.record import Competence, competence_id
from trackrecord.store.competences.tables import competence_history, competences
from trackrecord.store.outcomes.tables import outcome_entries, outcomes

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
