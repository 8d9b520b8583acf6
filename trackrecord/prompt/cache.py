"""The rankings cache in Redis: one hash per project, with the revision beside the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import redis

from trackrecord.agent_settings import AgentSettings

from .document import RankingsDocument, encode_document

if TYPE_CHECKING:
    # Only workers write: agents do without the import.
    from trackrecord.daemon_settings import DaemonSettings

DOCUMENT = "document"
REVISION = "revision"
COMPUTED_AT = "computed_at"
RULES = "rules"

# Two workers may finish in the other order than they read: the later revision stays.
_WRITE_UNLESS_NEWER = """
local cached = tonumber(redis.call('HGET', KEYS[1], 'revision') or '-1')
if cached > tonumber(ARGV[1]) and ARGV[5] == '0' then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[1], 'computed_at', ARGV[2], 'document', ARGV[3],
           'rules', ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
"""


@dataclass(frozen=True)
class CachedAge:
    """How old a project's cached rankings are.

    Attributes:
        revision: the revision of the store that they show.
        age_s: seconds since they were computed.
        is_by_these_rules: whether they were derived by the settings of today.
    """

    revision: int
    age_s: float
    is_by_these_rules: bool = True


def _rules_of(settings: DaemonSettings) -> str:
    """What stands for the rules that rankings are derived by, whenever they are read."""
    rules = (
        settings.maturity,
        settings.antipatterns,
        settings.strategies,
        settings.texts,
        settings.rankings_max,
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
    key = settings.keys.rankings(document.project)
    arguments: list[Any] = [
        document.revision,
        repr(document.computed_at),
        encode_document(document),
        settings.rankings_ttl_s,
        int(force),
        _rules_of(settings),
    ]
    return bool(client.eval(_WRITE_UNLESS_NEWER, 1, key, *arguments))


def read_stamp(client: redis.Redis, settings: AgentSettings, project: str) -> bytes | None:
    """What changes whenever a project's cached rankings do; None when there are none."""
    stamp: Any = client.hget(settings.keys.rankings(project), COMPUTED_AT)
    return None if stamp is None else bytes(stamp)


def read_document(
    client: redis.Redis, settings: AgentSettings, project: str
) -> tuple[bytes | None, bytes | None]:
    """The stamp and the rankings, undecoded, as they are at one moment; None where missing."""
    answer: Any = client.hmget(settings.keys.rankings(project), COMPUTED_AT, DOCUMENT)
    stamp, document = answer
    return stamp, document


def cached_ages(
    client: redis.Redis, settings: DaemonSettings, projects: Sequence[str], *, now: float
) -> dict[str, CachedAge]:
    """How old the cached rankings of projects are; those without any are missing."""
    with client.pipeline(transaction=False) as pipe:
        for project in projects:
            pipe.hmget(settings.keys.rankings(project), REVISION, COMPUTED_AT, RULES)
        answers = pipe.execute()
    wanted = _rules_of(settings).encode()
    return {
        project: CachedAge(int(revision), now - float(computed_at), rules == wanted)
        for project, (revision, computed_at, rules) in zip(projects, answers, strict=True)
        if revision is not None and computed_at is not None
    }
