"""The records that an importer yields."""

import hashlib
from dataclasses import dataclass
from typing import Any

_ID_DIGITS = 32


@dataclass(frozen=True)
class Imported:
    """A recorded run as an outcome.

    Attributes:
        record: its number in the file, from 1.
        fields: fields of the wire format; outcome_id is among them. The timestamp is missing
            where the recording has none.
        kind: what is numbered: "record", "line" or "item".
    """

    record: int
    fields: dict[str, Any]
    kind: str = "record"

    @property
    def place(self) -> str:
        """The line in the file, as "line 3"."""
        return f"{self.kind} {self.record}"


@dataclass(frozen=True)
class Rejected:
    """A record that is not an outcome; the import continues with the others.

    Attributes:
        record: its number in the file, from 1.
        reason: the error in it, without its content.
        kind: what is numbered: "record", "line" or "item".
    """

    record: int
    reason: str
    kind: str = "record"

    @property
    def place(self) -> str:
        """The line in the file, as "line 3"."""
        return f"{self.kind} {self.record}"


def stable_id(prefix: str, content: bytes) -> str:
    """Return an outcome_id that depends on a record's content alone."""
    return f"{prefix}-{hashlib.sha256(content).hexdigest()[:_ID_DIGITS]}"
