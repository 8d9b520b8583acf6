"""Forward the spool to Redis, by the first process that gets through.

A file is deleted only after Redis took all of it. When something breaks in between, all of it is
sent again; outcomes that had arrived already are recognised by their outcome_id.
"""

import io
import os
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from typing import NamedTuple

import redis

from trackrecord.errors import InvalidEntry
from trackrecord.redis.dead_letter_stream import letter_of
from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.wire.kinds import KINDS, decoder_of
from trackrecord.wire.outcome import WIRE_VERSION
from trackrecord.wire.redacted_body import redacted_body

from ..delivery.stream_and_spool_format import (
    LINE_OVERHEAD,
    Entry,
    is_safe_line,
    read_spool_line,
    stream_entry,
)
from ..delivery.stream_writer import append, append_to, batches
from .files import LockedFile, lock_file, spool_files

TORN = "the writer ended in the middle of this line"
TOO_LONG = "a line of the spool is longer than a body may be; this is a part of it"


def forward_spool(settings: AgentSettings, client: redis.Redis) -> int:
    """Send the outcomes that dead or finished writers left in the spool.

    Returns:
        How many outcomes went onto the stream.

    Raises:
        ServerUnavailable: Redis cannot be reached or refuses writes; what was not sent stays.
    """
    return sum(forwarding(settings, client))


def forwarding(settings: AgentSettings, client: redis.Redis) -> Iterator[int]:
    """Forward the spool in steps: yield how many outcomes each pipelined write took.

    Between two steps the caller may do something else, or give up and close the iterator.
    """
    for path, _ in sorted(spool_files(settings.spool_dir)):
        try:
            # Only a file that can be emptied is forwarded: another would be sent for ever.
            file = lock_file(path, os.O_RDWR)
        except OSError:
            continue
        if file is not None:
            with closing(file):
                yield from _forward_file(file, settings, client)


def _forward_file(file: LockedFile, settings: AgentSettings, client: redis.Redis) -> Iterator[int]:
    if file.fd is None:
        return
    with open(file.fd, "rb", closefd=False) as content:
        pieces = _pieces(content, settings.max_body_bytes)
        for problem, run in groupby(pieces, key=lambda piece: piece.problem):
            for batch in batches((piece.content for piece in run), settings.publish_batch):
                if problem:
                    letters = [_letter(part, problem) for part in batch]
                    streams = [settings.keys.shards[0].dead] * len(letters)
                    append_to(client, streams, letters, replicas=settings.redis_replicas)
                else:
                    entries = [_entry(line) for line in batch]
                    append(client, settings.keys, entries, replicas=settings.redis_replicas)
                    yield len(batch)
    _remove(file)


def _entry(line: bytes) -> Entry:
    kind, body = read_spool_line(line)
    return stream_entry(kind, body if is_safe_line(line) else redacted_body(body))


def _letter(part: bytes, problem: str) -> Entry:
    """Return the dead letter of a part of a file; workers see to it that there are not too many."""
    field = KINDS["outcome"].field.encode()
    letter = letter_of({b"v": WIRE_VERSION.encode(), field: part}, problem)
    return {name.decode(): value for name, value in letter.items()}


class _Piece(NamedTuple):
    """A line of the spool, or a part of one that is too long to be held in memory."""

    content: bytes
    problem: str = ""


def _pieces(content: io.BufferedReader, max_bytes: int) -> Iterator[_Piece]:
    """Yield the content of a file, line by line, without the line breaks."""
    in_long_line = False
    longest = max_bytes + LINE_OVERHEAD
    while read := content.readline(longest + 1):
        line = read.removesuffix(b"\n")
        ends = line != read
        if in_long_line or len(line) > longest:
            yield _Piece(line, TOO_LONG)
            in_long_line = not ends
        elif ends or _is_whole(line, max_bytes):
            if line:
                yield _Piece(line)
        else:
            yield _Piece(line, TORN)


def _is_whole(line: bytes, max_bytes: int) -> bool:
    kind, body = read_spool_line(line)
    try:
        decoder_of(kind)(body, max_bytes=max_bytes)
    except InvalidEntry:
        return False
    return True


def _remove(file: LockedFile) -> None:
    try:
        file.path.unlink(missing_ok=True)
    except OSError:  # the folder is not ours to write to; the file is
        if file.fd is not None:
            os.ftruncate(file.fd, 0)
