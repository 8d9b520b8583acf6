"""The details that an attempt keeps of one call of a tool: its arguments and its error."""

from contextlib import suppress

import msgspec

from trackrecord.wire.outcome import encode_body

from ..bodies.safe_text import describe

MAX_DETAILS = 2000
_MAX_PARTICULAR_BYTES = 16 * 1024


def call_details(args: object, error: object) -> dict[str, msgspec.Raw]:
    """Return arguments and error as they are now: the agent may change them later."""
    given: dict[str, object] = {}
    if args is not None:
        given["args"] = args
    if error is not None:
        given["error"] = describe(error, MAX_DETAILS)
    particulars: dict[str, msgspec.Raw] = {}
    for name, value in given.items():
        # Values that cannot be written, or are too long, are left out: the call itself counts.
        with suppress(Exception):
            written = encode_body({name: value})[len(name) + 4 : -1]
            if len(written) <= _MAX_PARTICULAR_BYTES:
                particulars[name] = msgspec.Raw(written)
    return particulars
