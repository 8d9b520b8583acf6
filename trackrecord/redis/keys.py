"""The names of everything that trackrecord keeps in Redis."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NoReturn
from zlib import crc32

CONSUMER_GROUP = "learners"
# The rights of Redis users name the shards by one or two digits.
MOST_SHARDS: Final = 100
# Stands between the id of an entry, or of a dead letter, and the number of its shard.
_SHARD_MARK: Final = "@"


@dataclass(frozen=True)
class Keys:
    """Redis key names below one prefix: of everything, or of one shard.

    A project's name comes from outside; it stands only at the end of a key, so that no name can
    reach into another project's key.

    Attributes:
        prefix: begins every key; of a numbered shard it ends with the number in braces, which
            Redis Cluster hashes, so that all keys of a shard are in one slot.
        number: of the shard; None for keys without a number.
    """

    prefix: str
    number: int | None = None

    @property
    def shards(self) -> tuple["Keys", ...]:
        """The shards of these keys."""
        return (self,)

    @property
    def possible_strays(self) -> tuple["Keys", ...]:
        """The shards that processes with another number of shards may have written to."""
        return tuple(_numbered(self.prefix, number) for number in range(MOST_SHARDS))

    def of(self, project: str) -> "Keys":  # noqa: ARG002 - there is only one
        """Return the keys of the shard of a project."""
        return self

    def mark(self, own_id: str) -> str:
        """Return an id of an entry that no other shard's entry has."""
        return own_id if self.number is None else f"{own_id}{_SHARD_MARK}{self.number}"

    @property
    def _shard(self) -> str:
        """The beginning of the keys of one shard."""
        return self.prefix

    @property
    def outcomes(self) -> str:
        """The stream that outcomes travel on."""
        return f"{self._shard}:outcomes"

    @property
    def dead(self) -> str:
        """The stream of dead letters."""
        return f"{self._shard}:dead"

    @property
    def dead_size(self) -> str:
        """Return the key of the number of dead letters and of their bytes."""
        return f"{self._shard}:dead:size"

    @property
    def clock(self) -> str:
        """The time by Redis's clock at which workers last looked for entries to take over."""
        return f"{self._shard}:clock"

    @property
    def workers(self) -> str:
        """Return the sorted set of the worker processes that live, see `signs_of_life`."""
        return f"{self.prefix}:workers"

    @property
    def database_outage(self) -> str:
        """The flag of a database that is away, so that it is logged once."""
        return f"{self.prefix}:outage:database"

    @property
    def notifications(self) -> str:
        """The stream of notifications that earlier versions kept."""
        return f"{self.prefix}:notifications"

    @property
    def database_away(self) -> str:
        """The mark of a database that is away, for as long as no worker has reached it."""
        return f"{self.prefix}:outage:database-away"

    @property
    def redis_outage(self) -> str:
        """The mark of an outage of Redis that was counted a moment ago."""
        return f"{self.prefix}:outage:redis"

    @property
    def counters(self) -> str:
        """Return the hash of the workers' counters, of all projects together."""
        return f"{self.prefix}:counters"

    def rankings(self, project: str) -> str:
        """Return the cached rankings of a project."""
        return f"{self.of(project).prefix}:rankings:{project}"

    def task_vectors(self, project: str) -> str:
        """Return the key of the embeddings of a project's tasks."""
        return f"{self.of(project).prefix}:task-vectors:{project}"

    def known_lessons(self, project: str) -> str:
        """Return when each established lesson of a project appeared."""
        return f"{self.of(project).prefix}:known-lessons:{project}"

    def known_defects(self, project: str) -> str:
        """Return when each standing defect of a project began, and ended."""
        return f"{self.of(project).prefix}:known-defects:{project}"

    def task_in_flight(self, digest: str, project: str) -> str:
        """Return the key of one task's errors and failed attempts, by the digest of its name."""
        return f"{self.of(project).prefix}:in-flight:task:{digest}:{project}"

    def tasks_in_flight(self, project: str) -> str:
        """Return the tasks in flight of a project, by their last news."""
        return f"{self.of(project).prefix}:in-flight:tasks:{project}"

    def task_sizes(self, project: str) -> str:
        """Return the number of each task's errors that count towards its project's bound."""
        return f"{self.of(project).prefix}:in-flight:sizes:{project}"

    @property
    def changed_tasks(self) -> str:
        """The tasks in flight that changed since the text for their retry was written."""
        return f"{self._shard}:in-flight:changed"

    def retry(self, task_id: str, project: str) -> str:
        """Return what any client can read before a retry; SHA-256 is known in every language."""
        digest = sha256(task_id.encode()).hexdigest()
        return f"{self.of(project).prefix}:in-flight:retry:{digest}:{project}"

    def computed(self, project: str) -> tuple[str, ...]:
        """Return the keys whose content is computed, so that it is made again; rankings first."""
        return (
            self.rankings(project),
            self.task_vectors(project),
            self.known_lessons(project),
            self.known_defects(project),
        )

    def indexes(self, project: str) -> tuple[str, ...]:
        """Return the keys that list a project's tasks in flight."""
        return (self.tasks_in_flight(project), self.task_sizes(project))


@dataclass(frozen=True)
class ShardedKeys(Keys):
    """Key names of several shards, and of what all of them share.

    What concerns one project is in that project's shard. Notifications, locks and marks of outages
    concern all; they stay where they were when there was one shard, in a cluster in shard 0.

    Attributes:
        count: the number of shards.
        in_cluster: whether the server is a Redis Cluster: a key without braces could be anywhere.
    """

    count: int = 1
    in_cluster: bool = False

    @property
    def shards(self) -> tuple[Keys, ...]:
        """The shards, and the keys without a number, for producers that know of one shard only."""
        numbered = tuple(_numbered(self._root, number) for number in range(self.count))
        return numbered if self.in_cluster else (*numbered, Keys(self._root))

    @property
    def possible_strays(self) -> tuple[Keys, ...]:
        """The shards that processes with a larger number of shards may have written to."""
        return tuple(_numbered(self._root, number) for number in range(self.count, MOST_SHARDS))

    def of(self, project: str) -> Keys:
        """Return the keys of the shard of a project, as every client computes it."""
        return _numbered(self._root, shard_of(project, self.count))

    @property
    def _root(self) -> str:
        return self.prefix.partition(":")[0]

    @property
    def _shard(self) -> NoReturn:
        message = "there are several shards: go through `shards`, or name a project with `of`"
        raise ValueError(message)


def keys_below(prefix: str, shards: int, *, in_cluster: bool) -> Keys:
    """Return the names of all keys.

    Args:
        prefix: begins every key.
        shards: the number of shards. One shard on a single server has keys without a number.
        in_cluster: whether the server is a Redis Cluster.
    """
    if shards == 1 and not in_cluster:
        return Keys(prefix)
    home = _numbered(prefix, 0).prefix if in_cluster else prefix
    return ShardedKeys(home, count=shards, in_cluster=in_cluster)


def shard_of(project: str, count: int) -> int:
    """Return the number of a project's shard: the CRC-32 of its name, as zlib has it, modulo."""
    return crc32(project.encode("utf-8", "surrogatepass")) % count


def split_mark(marked_id: str) -> tuple[str, int | None]:
    """Return an entry's id in its own shard, and the shard's number; None for one without."""
    own_id, _, number = marked_id.partition(_SHARD_MARK)
    return own_id, int(number) if number else None


def _numbered(prefix: str, number: int) -> Keys:
    return Keys(f"{prefix}:{{{number}}}", number)
