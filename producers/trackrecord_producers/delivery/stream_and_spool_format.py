"""The format of an entry of the stream and of a line of the spool: a body in the field of its kind.

The worker reads entries in `trackrecord_worker.learning.entry_kinds`; docs/wire.md describes them.
How lines make up a file is said by `spool.files`, and read by `spool.forwarder` and
`spool.forgetting`; a `journal` is such a file, too.
"""

from trackrecord.wire.kinds import KINDS, Kind
from trackrecord.wire.outcome import WIRE_VERSION

Entry = dict[str, bytes | str]

_BEGINNINGS: dict[Kind, bytes] = {
    kind: f'{{"v":{WIRE_VERSION},"{report.field}":'.encode() for kind, report in KINDS.items()
}
_END = b"}"

# How much longer a line of the spool is than the body in it, at most.
LINE_OVERHEAD = max(map(len, _BEGINNINGS.values())) + len(_END)


def stream_entry(kind: Kind, body: bytes) -> Entry:
    """Return a body as an entry of the outcomes' stream."""
    return {"v": WIRE_VERSION, KINDS[kind].field: body}


def spool_line(kind: Kind, body: bytes) -> bytes:
    """Return a stream entry as a line of the spool, without its line break."""
    return _BEGINNINGS[kind] + body + _END


def read_spool_line(line: bytes) -> tuple[Kind, bytes]:
    """Return the kind and the body in a line of the spool, unchecked; a bare body is an outcome."""
    for kind, beginning in _BEGINNINGS.items():
        if line.startswith(beginning) and line.endswith(_END):
            return kind, line[len(beginning) : -len(_END)]
    return "outcome", line
