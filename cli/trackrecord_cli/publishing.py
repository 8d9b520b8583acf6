"""Publishing for people: batch by batch, with progress, and waiting until it is learnt."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import click

from trackrecord.errors import ImportFormatError, ServerUnavailable
from trackrecord.learning.text.numerals import counted
from trackrecord.redis.keys import split_mark
from trackrecord_producers.importers.jsonl import BadLine
from trackrecord_producers.publishing.checked_outcomes import CheckedOutcome

from .output.screen import print_json

if TYPE_CHECKING:
    import redis

    from trackrecord.redis.keys import Keys
    from trackrecord.settings.agent_settings import AgentSettings
    from trackrecord.settings.daemon_settings import DaemonSettings

BAD_INPUT: Final = 2
_MOST_NAMED: Final = 10


def up_to_damage(
    given: Iterable[CheckedOutcome | BadLine], file: str
) -> Iterator[CheckedOutcome | BadLine]:
    """Return the content of a file; unreadable content becomes its last bad line."""
    try:
        yield from given
    except ImportFormatError as error:
        yield BadLine(file, str(error).removeprefix(file).lstrip(", "))


def say_bad_lines(bad: Sequence[BadLine]) -> int:
    """Name the first bad lines on standard error, and return the exit status."""
    for line in bad[:_MOST_NAMED]:
        click.echo(f"trackrecord: {line.place}: {line.reason}", err=True)
    if len(bad) > _MOST_NAMED:
        click.echo(f"trackrecord: and {len(bad) - _MOST_NAMED} more", err=True)
    return BAD_INPUT if bad else 0


_POLL_S = 0.05
_ASK_FOR_WORKER_AFTER_S = 5.0
# The rankings follow what is learnt by less than this.
_REFRESH_GRACE_S = 0.5
_REFUSED = 2
_ASKED_AT_ONCE = 500

# An outcome is known by its project and its id.
Name = tuple[str, str]
FindKnown = Callable[[Collection[Name]], "Collection[Name]"]


@dataclass
class Published:
    """The result of publishing outcomes from the command line.

    Attributes:
        outcome_ids: of the outcomes that Redis took, in order.
        entry_ids: of their entries in the stream.
        bad: what was not an outcome.
        refused: what the worker set aside after all, by outcome_id, with the reason.
        known: how many of the outcomes were on record already, or were handed in twice; None when
            nobody looked.
        not_learnt: how many were not learnt: a person has forgotten them, or the retention has
            removed what is as old.
    """

    outcome_ids: list[str] = field(default_factory=list)
    entry_ids: list[str] = field(default_factory=list)
    bad: list[BadLine] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    known: int | None = None
    not_learnt: int = 0


class Publication:
    """Publishes outcomes, and counts those that change nothing.

    Args:
        client: a Redis client.
        settings: the names of the keys, and what Redis must promise.
        find_known: returns which of some outcomes are on record; None when the store cannot be
            asked.
        are_safe: whether the secrets in them are replaced.
    """

    def __init__(
        self,
        client: redis.Redis,
        settings: AgentSettings,
        find_known: FindKnown | None,
        *,
        are_safe: bool = False,
    ) -> None:
        self._client = client
        self._settings = settings
        self._find_known = find_known
        self._are_safe = are_safe
        self._seen: set[Name] = set()
        self.published = Published(known=None if find_known is None else 0)

    def publish(
        self,
        given: Iterable[CheckedOutcome | BadLine],
        report: Callable[[int], None] = lambda _outcomes: None,
    ) -> Published:
        """Publish all outcomes; bad ones are collected, the others go through.

        Args:
            given: the outcomes.
            report: told after each batch how many were published so far.

        Raises:
            ServerUnavailable: Redis went away; doing it again changes nothing that went through.
        """
        from trackrecord_producers.delivery.stream_writer import BATCH_OUTCOMES

        batch: list[CheckedOutcome] = []
        for outcome in given:
            if isinstance(outcome, BadLine):
                self.published.bad.append(outcome)
                continue
            batch.append(outcome)
            if len(batch) == BATCH_OUTCOMES:
                self._send(batch)
                batch = []
                report(len(self.published.outcome_ids))
        self._send(batch)
        return self.published

    def find_not_learnt(self) -> None:
        """Count what is not on record though workers are done with it: forgotten, or too old."""
        if self._find_known is None:
            return
        wanted = sorted(self._seen)
        found = sum(
            len(set(self._find_known(wanted[start : start + _ASKED_AT_ONCE])))
            for start in range(0, len(wanted), _ASKED_AT_ONCE)
        )
        self.published.not_learnt = max(0, len(wanted) - found - len(self.published.refused))

    def _send(self, batch: list[CheckedOutcome]) -> None:
        from trackrecord_producers.delivery.stream_writer import send

        if batch and self._find_known is not None and self.published.known is not None:
            self.published.known += self._count_known(batch, self._find_known)
        bodies = [outcome.body for outcome in batch]
        self.published.entry_ids += send(
            self._client,
            self._settings.keys,
            bodies,
            replicas=self._settings.redis_replicas,
            are_safe=self._are_safe,
        )
        self.published.outcome_ids += [outcome.outcome_id for outcome in batch]

    def _count_known(self, batch: list[CheckedOutcome], find_known: FindKnown) -> int:
        names = {(outcome.project, outcome.outcome_id) for outcome in batch}
        new = names - self._seen - set(find_known(names))
        self._seen |= names
        return len(batch) - len(new)


def find_known(settings: DaemonSettings) -> FindKnown | None:
    """Return a function that looks for outcomes in the store; None if it cannot be reached."""
    from trackrecord.resources.reports.outcomes import known_outcomes
    from trackrecord.store.database.engine import reading
    from trackrecord.store.database.migrate import open_store

    url, timeout_s = settings.effective_database_url, settings.database_timeout_s
    try:
        engine = open_store(url, timeout_s=timeout_s, keeps_connections=False)
    except ServerUnavailable:
        return None

    def find(names: Collection[Name]) -> Collection[Name]:
        # A connection for each batch: a transaction that stays open would hold up the workers.
        with reading(engine) as connection:
            return known_outcomes(connection, names)

    return find


def so_far(publication: Publication | None) -> str:
    """Return the results so far of an interrupted publication."""
    count = 0 if publication is None else len(publication.published.outcome_ids)
    # Redis may have taken a batch that it had no time to confirm.
    return (
        f"at least {counted(count, 'outcome')} published, to be learnt in any case; run the same "
        "command again for the rest: none counts twice"
    )


def report(published: Published, *, waited: bool, as_json: bool) -> int:
    """Print the results of publishing; return the exit status."""
    known = published.known
    new = len(published.outcome_ids) - len(published.refused) - (known or 0) - published.not_learnt
    if as_json:
        print_json(
            {
                "published": len(published.outcome_ids),
                "learnt": new if waited else None,
                "known": known,
                "not_learnt": published.not_learnt,
                "refused": published.refused,
                "bad": [{"place": line.place, "reason": line.reason} for line in published.bad],
                "outcome_ids": published.outcome_ids,
            }
        )
    else:
        click.echo(_summary(published, new, waited=waited))
    for outcome_id, reason in published.refused.items():
        click.echo(f"trackrecord: {outcome_id} was set aside: {reason}", err=True)
    return say_bad_lines(published.bad) or (_REFUSED if published.refused else 0)


def _summary(published: Published, new: int, *, waited: bool) -> str:
    verb = "learnt" if waited else "published"
    if published.known is None:
        return f"{counted(len(published.outcome_ids), 'outcome')} {verb}"
    told = f"{counted(new, 'new outcome')} {verb}, {published.known} known already"
    return told + (
        f", {published.not_learnt} forgotten or older than what is kept"
        if published.not_learnt
        else ""
    )


def wait_until_learnt(
    client: redis.Redis,
    keys: Keys,
    published: Published,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> None:
    """Return when every entry is learnt or set aside, and the rankings show it.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        published: what was published.
        report: told how many entries, from the first on, are learnt, and how many there are.
    """
    if not published.entry_ids:
        return
    by_shard = _by_shard(keys, published.entry_ids)
    asked = time.monotonic()
    oldest: Any = None
    while any(left := [_oldest(client, shard, ids) for shard, ids in by_shard.items()]):
        if left != oldest:
            oldest, asked = left, time.monotonic()
            report(_count_learnt(by_shard, left), len(published.entry_ids))
        elif time.monotonic() - asked > _ASK_FOR_WORKER_AFTER_S:
            click.echo("still waiting; is a worker running? `trackrecord status` tells", err=True)
            asked = float("inf")
        time.sleep(_POLL_S)
    _find_refused(client, keys, published)
    time.sleep(_REFRESH_GRACE_S)


def _by_shard(keys: Keys, entry_ids: Sequence[str]) -> dict[Keys, dict[str, int]]:
    """Return the places of the entries in each shard, by their ids there, the oldest first."""
    shards = {shard.number: shard for shard in keys.shards}
    by_shard: dict[Keys, dict[str, int]] = {}
    for entry_id in entry_ids:
        own_id, number = split_mark(entry_id)
        places = by_shard.setdefault(shards[number], {})
        places[own_id] = len(places)
    return by_shard


def _oldest(client: redis.Redis, shard: Keys, ids: dict[str, int]) -> str | None:
    """Return the id of the oldest entry between these that is still in the stream."""
    first, last = next(iter(ids)), next(reversed(ids))
    answer: Any = client.xrange(shard.outcomes, min=first, max=last, count=1)
    return answer[0][0].decode() if answer else None


def _count_learnt(by_shard: Mapping[Keys, dict[str, int]], oldest: Sequence[str | None]) -> int:
    """Return how many entries come before the oldest one left in their shard."""
    return sum(
        len(places) if first is None else places.get(first, 0)
        for places, first in zip(by_shard.values(), oldest, strict=True)
    )


def _find_refused(client: redis.Redis, keys: Keys, published: Published) -> None:
    by_entry = dict(zip(published.entry_ids, published.outcome_ids, strict=True))
    for shard, ids in _by_shard(keys, published.entry_ids).items():
        letters: Any = client.xrange(shard.dead, min=next(iter(ids)).split("-")[0])
        for _, fields in letters:
            outcome_id = by_entry.get(fields.get(b"entry_id", b"").decode())
            if outcome_id is not None:
                published.refused[outcome_id] = fields.get(b"reason", b"").decode()
