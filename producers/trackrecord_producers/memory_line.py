"""A memory on its way to Redis: in the queue and in the spool it travels among outcomes.

There it is the JSON array `["memory", {…}]`, which no outcome can be: an outcome is an object.
"""

_BEGIN = b'["memory",'
_END = b"]"


def memory_line(body: bytes) -> bytes:
    """A memory's body as it waits among outcomes."""
    return _BEGIN + body + _END


def memory_in(line: bytes) -> bytes | None:
    """The body of a memory, when that is what a line holds; None when it is none."""
    if line.startswith(_BEGIN) and line.endswith(_END):
        return line[len(_BEGIN) : -len(_END)]
    return None
