"""The items that wait in memory and travel: a body and the kind of report in it."""

from typing import Literal

import msgspec

from trackrecord.wire.outcome import WIRE_VERSION

Kind = Literal["outcome", "memory", "exposure", "recall", "error", "feedback", "report"]
Entry = dict[str, bytes | str]

# In which field of a stream entry, and of a line of the spool, the body of each kind travels.
_FIELDS: dict[Kind, str] = {
    "outcome": "body",
    "memory": "memory",
    "exposure": "exposure",
    "recall": "recall",
    "error": "error",
    "feedback": "feedback",
}
_BEGINNINGS: dict[Kind, bytes] = {
    kind: f'{{"v":{WIRE_VERSION},"{field}":'.encode() for kind, field in _FIELDS.items()
}
_END = b"}"
# Written before 0.1.0: a memory as an array among outcomes, which were bare bodies.
_OLD_MEMORY, _OLD_MEMORY_END = b'["memory",', b"]"

# How much longer a line of the spool is than the body in it, at most.
LINE_OVERHEAD = max(map(len, _BEGINNINGS.values())) + len(_END)


class Waiting(msgspec.Struct, frozen=True, gc=False):
    """An item that waits to be written.

    Attributes:
        body: the encoded body.
        names_project: whether the body says which project it belongs to.
        adopts_since: for an attempt's outcome, when the attempt began, on the monotonic clock: what
            others recorded since is added to its errors.
        kind: the kind of report in the body.
    """

    body: bytes
    names_project: bool
    adopts_since: float | None = None
    kind: Kind = "outcome"

    def of_project(self, project: str) -> "Waiting":
        """Return the same item with a body that names its project."""
        if self.names_project:
            return self
        body = b'{"project":' + msgspec.json.encode(project) + b"," + self.body[1:]
        return msgspec.structs.replace(self, body=body, names_project=True)


def stream_entry(kind: Kind, body: bytes) -> Entry:
    """Return a body as an entry of the outcomes' stream."""
    return {"v": WIRE_VERSION, _FIELDS[kind]: body}


def spool_line(kind: Kind, body: bytes) -> bytes:
    """Return a stream entry as a line of the spool, without its line break."""
    return _BEGINNINGS[kind] + body + _END


def read_spool_line(line: bytes) -> tuple[Kind, bytes]:
    """Return the kind and the body in a line of the spool, also in the old form, unchecked."""
    for kind, beginning in _BEGINNINGS.items():
        if line.startswith(beginning) and line.endswith(_END):
            return kind, line[len(beginning) : -len(_END)]
    if line.startswith(_OLD_MEMORY) and line.endswith(_OLD_MEMORY_END):
        return "memory", line[len(_OLD_MEMORY) : -len(_OLD_MEMORY_END)]
    return "outcome", line
