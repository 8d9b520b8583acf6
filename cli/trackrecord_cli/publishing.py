"""Publishing for people: batch by batch, with progress, and waiting until it is learnt."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import click
import redis

from trackrecord.redis_keys import Keys
from trackrecord_producers.stream_writer import BATCH_OUTCOMES, send

from .outcome_input import BadLine, GivenOutcome

_POLL_S = 0.05
_ASK_FOR_WORKER_AFTER_S = 5.0
# The rankings follow what is learnt by less than this.
_REFRESH_GRACE_S = 0.5


@dataclass
class Published:
    """What became of what was handed in.

    Attributes:
        outcome_ids: of the outcomes that Redis took, in order.
        entry_ids: of their entries in the stream.
        bad: what was no outcome.
        refused: what the worker set aside after all, by outcome_id, with the reason.
    """

    outcome_ids: list[str] = field(default_factory=list)
    entry_ids: list[str] = field(default_factory=list)
    bad: list[BadLine] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def publish_all(
    client: redis.Redis, keys: Keys, given: Iterable[GivenOutcome | BadLine]
) -> Published:
    """Publish all outcomes; bad ones are collected, the others go through.

    Raises:
        ServerUnavailable: Redis went away; doing it again changes nothing that went through.
    """
    published = Published()
    batch: list[GivenOutcome] = []
    for each in given:
        if isinstance(each, BadLine):
            published.bad.append(each)
            continue
        batch.append(each)
        if len(batch) == BATCH_OUTCOMES:
            _send(client, keys, batch, published)
            batch = []
    _send(client, keys, batch, published)
    return published


def _send(client: redis.Redis, keys: Keys, batch: list[GivenOutcome], published: Published) -> None:
    published.entry_ids += send(client, keys, [each.body for each in batch])
    published.outcome_ids += [each.outcome_id for each in batch]


def wait_until_learnt(client: redis.Redis, keys: Keys, published: Published) -> None:
    """Return when every entry is learnt or set aside, and the rankings show it."""
    if not published.entry_ids:
        return
    first, last = published.entry_ids[0], published.entry_ids[-1]
    asked = time.monotonic()
    oldest: Any = None
    while left := client.xrange(keys.outcomes, min=first, max=last, count=1):
        if left != oldest:
            oldest, asked = left, time.monotonic()
        elif time.monotonic() - asked > _ASK_FOR_WORKER_AFTER_S:
            click.echo("still waiting; is a worker running? `trackrecord status` tells", err=True)
            asked = float("inf")
        time.sleep(_POLL_S)
    _find_refused(client, keys, published)
    time.sleep(_REFRESH_GRACE_S)


def _find_refused(client: redis.Redis, keys: Keys, published: Published) -> None:
    by_entry = dict(zip(published.entry_ids, published.outcome_ids, strict=True))
    since = published.entry_ids[0].split("-")[0]
    letters: Any = client.xrange(keys.dead, min=since)
    for _, fields in letters:
        outcome_id = by_entry.get(fields.get(b"entry_id", b"").decode())
        if outcome_id is not None:
            published.refused[outcome_id] = fields.get(b"reason", b"").decode()
