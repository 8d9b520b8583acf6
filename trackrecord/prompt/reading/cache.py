"""The cache in Redis: one hash per project, with its rankings and its advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import redis

from trackrecord.embeddings.packed import PackedVectors, encode_vectors
from trackrecord.learning.advice.moments.facts import MomentDocument, encode_moments
from trackrecord.settings.agent_settings import AgentSettings

from ..documents.advice_document import AdviceDocument, encode_advice
from ..documents.rankings_document import RankingsDocument, encode_document

if TYPE_CHECKING:
    # Only workers write: agents do without the import.
    from trackrecord.settings.daemon_settings import DaemonSettings

DOCUMENT = "document"
REVISION = "revision"
COMPUTED_AT = "computed_at"
RULES = "rules"
ADVICE = "advice"
ADVICE_REVISION = "advice_revision"
ADVICE_COMPUTED_AT = "advice_computed_at"
ADVICE_COST_S = "advice_cost_s"
MOMENTS = "moments"
VECTORS = "vectors"
VECTORS_STAMP = "vectors_stamp"
# The rankings whose records the vectors are complete for.
VECTORS_FOR = "vectors_for"

# Two workers may finish in the other order than they read: the later revision stays.
_WRITE_UNLESS_NEWER = """
local cached = tonumber(redis.call('HGET', KEYS[1], ARGV[3]) or '-1')
if cached > tonumber(ARGV[4]) and ARGV[2] == '0' then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
"""

# They belong to rankings: a project that was erased in between must not come back.
_WRITE_IF_RANKED = """
if redis.call('HEXISTS', KEYS[1], 'document') == 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
"""


@dataclass(frozen=True)
class CachedAdvice:
    """The age of a project's cached advice.

    Attributes:
        revision: the revision of the store that it shows.
        age_s: seconds since it was computed.
        cost_s: the seconds that computing it took.
    """

    revision: int
    age_s: float
    cost_s: float


class Stamps(NamedTuple):
    """Stamps that change with the rankings, the advice or the vectors; None where missing."""

    rankings: bytes | None = None
    advice: bytes | None = None
    vectors: bytes | None = None


@dataclass(frozen=True)
class CachedAge:
    """The age of a project's cached rankings.

    Attributes:
        revision: the revision of the store that they show.
        age_s: seconds since they were computed.
        is_by_these_rules: whether they were derived by the settings of today.
    """

    revision: int
    age_s: float
    is_by_these_rules: bool = True


def _rules_of(settings: DaemonSettings) -> str:
    """Return a fingerprint of the rules that rankings are derived by."""
    rules = (
        settings.criteria,
        settings.maturity,
        settings.antipatterns,
        settings.caps,
        settings.strategies,
        settings.texts,
        settings.memories,
    )
    return blake2b(repr(rules).encode(), digest_size=8).hexdigest()


def write_document(
    client: redis.Redis,
    settings: DaemonSettings,
    document: RankingsDocument,
    *,
    force: bool = False,
) -> bool:
    """Write a project's rankings unless the cache shows a later revision.

    Args:
        client: a Redis client.
        settings: where the cache is, and how long it lasts.
        document: what to write.
        force: write it all the same: the store itself went back.
    """
    fields = {
        REVISION: document.revision,
        COMPUTED_AT: repr(document.computed_at),
        DOCUMENT: encode_document(document),
        RULES: _rules_of(settings),
    }
    return _write(client, settings, document.project, fields, force=force)


def write_advice(
    client: redis.Redis,
    settings: DaemonSettings,
    document: AdviceDocument,
    *,
    cost_s: float,
    force: bool = False,
    moments: MomentDocument | None = None,
) -> bool:
    """Write a project's advice unless the cache shows that of a later revision.

    Args:
        client: a Redis client.
        settings: where the cache is, and how long it lasts.
        document: what to write.
        cost_s: the seconds that computing it took.
        force: write it all the same: the store itself went back.
        moments: what is told at failures.
    """
    fields = {
        ADVICE_REVISION: document.revision,
        ADVICE_COMPUTED_AT: repr(document.computed_at),
        ADVICE: encode_advice(document),
        ADVICE_COST_S: repr(cost_s),
        MOMENTS: encode_moments(moments or MomentDocument()),
    }
    return _write(client, settings, document.project, fields, force=force)


def _write(
    client: redis.Redis,
    settings: DaemonSettings,
    project: str,
    fields: Mapping[str, Any],
    *,
    force: bool,
) -> bool:
    """Write fields of a project, of which the first is their revision."""
    pairs = chain.from_iterable(fields.items())
    key = settings.keys.rankings(project)
    arguments: list[Any] = [settings.rankings_ttl_s, int(force), *pairs]
    return bool(client.eval(_WRITE_UNLESS_NEWER, 1, key, *arguments))


def write_vectors(
    client: redis.Redis,
    settings: AgentSettings,
    project: str,
    vectors: PackedVectors,
    *,
    of: bytes,
) -> bool:
    """Write the vectors of a project's records next to its rankings.

    Args:
        client: a Redis client.
        settings: where the cache is.
        project: its name.
        vectors: what to write.
        of: the stamp of the rankings that they are complete for; b"" while some are missing.
    """
    data = encode_vectors(vectors)
    stamp = blake2b(data, digest_size=8).hexdigest()
    key = settings.keys.rankings(project)
    fields = (VECTORS, data, VECTORS_STAMP, stamp, VECTORS_FOR, of)
    return bool(client.eval(_WRITE_IF_RANKED, 1, key, *fields))


def confirm_vectors(
    client: redis.Redis, settings: AgentSettings, project: str, *, of: bytes
) -> None:
    """Note that the vectors of a project, as they are, are complete for its rankings.

    Args:
        client: a Redis client.
        settings: where the cache is.
        project: its name.
        of: the stamp of the rankings.
    """
    client.eval(_WRITE_IF_RANKED, 1, settings.keys.rankings(project), VECTORS_FOR, of)


def read_stamps(client: redis.Redis, settings: AgentSettings, project: str) -> Stamps:
    """Return what changes whenever a project's cached rankings, advice or vectors do.

    An agent without an embedding endpoint does not ask for vectors.
    """
    fields = [COMPUTED_AT, ADVICE_COMPUTED_AT]
    if settings.embeddings.url is not None:
        fields.append(VECTORS_STAMP)
    answer: Any = client.hmget(settings.keys.rankings(project), fields)
    return Stamps(*answer)


def read_vectors(
    client: redis.Redis, settings: AgentSettings, project: str
) -> tuple[bytes | None, bytes | None]:
    """Return the stamp and the vectors, undecoded, of one moment; None where missing."""
    return _stamped(client, settings, project, VECTORS_STAMP, VECTORS)


def complete_vectors(client: redis.Redis, settings: AgentSettings, project: str) -> bool:
    """Return whether the vectors of a project are those of its rankings, or it has none."""
    answer: Any = client.hmget(settings.keys.rankings(project), COMPUTED_AT, VECTORS_FOR)
    ranked, complete = answer
    return ranked is None or ranked == complete


def read_document(
    client: redis.Redis, settings: AgentSettings, project: str
) -> tuple[bytes | None, bytes | None]:
    """Return the stamp and the rankings, undecoded, of one moment; None where missing."""
    return _stamped(client, settings, project, COMPUTED_AT, DOCUMENT)


def read_advice(
    client: redis.Redis, settings: AgentSettings, project: str
) -> tuple[bytes | None, bytes | None]:
    """Return the stamp and the advice, undecoded, of one moment; None where missing."""
    return _stamped(client, settings, project, ADVICE_COMPUTED_AT, ADVICE)


def read_moments(
    client: redis.Redis, settings: AgentSettings, project: str
) -> tuple[bytes | None, bytes | None]:
    """Return the stamp and what is known at a failure, undecoded; None where missing.

    It is as old as the advice; `decode_moments` decodes it.
    """
    return _stamped(client, settings, project, ADVICE_COMPUTED_AT, MOMENTS)


def read_moments_stamp(client: redis.Redis, settings: AgentSettings, project: str) -> bytes | None:
    """Return what changes whenever that does; None where nothing is cached."""
    stamp: Any = client.hget(settings.keys.rankings(project), ADVICE_COMPUTED_AT)
    return stamp  # type: ignore[no-any-return]


def _stamped(
    client: redis.Redis, settings: AgentSettings, project: str, stamp: str, document: str
) -> tuple[bytes | None, bytes | None]:
    answer: Any = client.hmget(settings.keys.rankings(project), stamp, document)
    found_stamp, found = answer
    return found_stamp, found


def cached_advice(
    client: redis.Redis, settings: DaemonSettings, projects: Sequence[str], *, now: float
) -> dict[str, CachedAdvice]:
    """Return how old the cached advice of projects is; those without any are missing."""
    fields = ADVICE_REVISION, ADVICE_COMPUTED_AT, ADVICE_COST_S
    return {
        project: CachedAdvice(int(revision), now - float(computed_at), float(cost_s))
        for project, (revision, computed_at, cost_s) in _of_each(client, settings, projects, fields)
        if None not in (revision, computed_at, cost_s)
    }


def cached_ages(
    client: redis.Redis, settings: DaemonSettings, projects: Sequence[str], *, now: float
) -> dict[str, CachedAge]:
    """Return the ages of projects' cached rankings; those without any are missing."""
    wanted = _rules_of(settings).encode()
    fields = REVISION, COMPUTED_AT, RULES
    return {
        project: CachedAge(int(revision), now - float(computed_at), rules == wanted)
        for project, (revision, computed_at, rules) in _of_each(client, settings, projects, fields)
        if revision is not None and computed_at is not None
    }


def _of_each(
    client: redis.Redis, settings: DaemonSettings, projects: Sequence[str], fields: Sequence[str]
) -> Iterator[tuple[str, Sequence[Any]]]:
    with client.pipeline(transaction=False) as pipe:
        for project in projects:
            pipe.hmget(settings.keys.rankings(project), fields)
        return zip(projects, pipe.execute(), strict=True)
