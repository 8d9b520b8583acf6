"""The format of an entry of the stream and of a line of the spool: a body in the field of its kind.

The worker reads entries in `trackrecord_worker.learning.entries`; docs/wire.md describes them.
How lines make up a file is said by `spool.files`, and read by `spool.forwarder` and
`spool.forgetting`; a `journal` is such a file, too.
"""

from itertools import product

from trackrecord.wire.kinds import KINDS, MARK, Kind
from trackrecord.wire.outcome import WIRE_VERSION

Entry = dict[str, bytes | str]

_MARKED = f'{{"v":{WIRE_VERSION},"{MARK}":1,'.encode()
_UNMARKED = f'{{"v":{WIRE_VERSION},'.encode()
_FIELDS: dict[Kind, bytes] = {kind: f'"{each.field}":'.encode() for kind, each in KINDS.items()}
_END = b"}"

# How much longer a line of the spool is than the body in it, at most.
LINE_OVERHEAD = len(_MARKED) + max(map(len, _FIELDS.values())) + len(_END)


def stream_entry(kind: Kind, body: bytes) -> Entry:
    """Return a body whose secrets are replaced as an entry of the outcomes' stream."""
    return {"v": WIRE_VERSION, MARK: "1", KINDS[kind].field: body}


def spool_line(kind: Kind, body: bytes, *, is_safe: bool) -> bytes:
    """Return a stream entry as a line of the spool, without its line break.

    Args:
        kind: the kind of the body.
        body: the body.
        is_safe: whether its secrets are replaced.
    """
    return (_MARKED if is_safe else _UNMARKED) + _FIELDS[kind] + body + _END


def read_spool_line(line: bytes) -> tuple[Kind, bytes]:
    """Return the kind and the body in a line of the spool, unchecked; a bare body is an outcome."""
    for start, (kind, field) in product((_MARKED, _UNMARKED), _FIELDS.items()):
        if line.startswith(start + field) and line.endswith(_END):
            return kind, line[len(start) + len(field) : -len(_END)]
    return "outcome", line


def is_safe_line(line: bytes) -> bool:
    """Return whether the secrets in a line of the spool are replaced."""
    return line.startswith(_MARKED)
