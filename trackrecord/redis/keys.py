"""The names of everything that trackrecord keeps in Redis."""

from dataclasses import dataclass
from hashlib import sha256

CONSUMER_GROUP = "learners"


@dataclass(frozen=True)
class Keys:
    """Redis key names below one prefix.

    A project's name comes from outside; it stands only at the end of a key, so that no name can
    reach into another project's key.
    """

    prefix: str

    @property
    def outcomes(self) -> str:
        """The stream that outcomes travel on."""
        return f"{self.prefix}:outcomes"

    @property
    def dead(self) -> str:
        """The stream of dead letters."""
        return f"{self.prefix}:dead"

    @property
    def dead_size(self) -> str:
        """Return the key of the number of dead letters and of their bytes."""
        return f"{self.prefix}:dead:size"

    @property
    def clock(self) -> str:
        """The time by Redis's clock at which workers last looked for entries to take over."""
        return f"{self.prefix}:clock"

    @property
    def database_outage(self) -> str:
        """The flag of a database that is away, so that it is logged once."""
        return f"{self.prefix}:outage:database"

    @property
    def notifications(self) -> str:
        """The stream of pending notifications."""
        return f"{self.prefix}:notifications"

    @property
    def notification_lock(self) -> str:
        """The lock of the sender of notifications."""
        return f"{self.prefix}:notifications:lock"

    @property
    def notifications_since(self) -> str:
        """Return the key of the moment from which news are sent."""
        return f"{self.prefix}:notifications:since"

    @property
    def announced_letters(self) -> str:
        """Return the key of the last announced dead letter, and its time."""
        return f"{self.prefix}:notifications:letters"

    def announced(self, project: str) -> str:
        """Return the key of the digests of a project's announced news."""
        return f"{self.prefix}:notifications:announced:{project}"

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
        return f"{self.prefix}:rankings:{project}"

    def task_vectors(self, project: str) -> str:
        """Return the key of the embeddings of a project's tasks."""
        return f"{self.prefix}:task-vectors:{project}"

    def known_lessons(self, project: str) -> str:
        """Return when each established lesson of a project appeared."""
        return f"{self.prefix}:known-lessons:{project}"

    def known_defects(self, project: str) -> str:
        """Return when each standing defect of a project began, and ended."""
        return f"{self.prefix}:known-defects:{project}"

    def task_in_flight(self, digest: str, project: str) -> str:
        """Return the key of one task's errors and failed attempts, by the digest of its name."""
        return f"{self.prefix}:in-flight:task:{digest}:{project}"

    def tasks_in_flight(self, project: str) -> str:
        """Return the tasks in flight of a project, by their last news."""
        return f"{self.prefix}:in-flight:tasks:{project}"

    def task_sizes(self, project: str) -> str:
        """Return the number of each task's errors that count towards its project's bound."""
        return f"{self.prefix}:in-flight:sizes:{project}"

    @property
    def changed_tasks(self) -> str:
        """The tasks in flight that changed since the text for their retry was written."""
        return f"{self.prefix}:in-flight:changed"

    def retry(self, task_id: str, project: str) -> str:
        """Return what any client can read before a retry; SHA-256 is known in every language."""
        digest = sha256(task_id.encode()).hexdigest()
        return f"{self.prefix}:in-flight:retry:{digest}:{project}"

    def computed(self, project: str) -> tuple[str, ...]:
        """Return the keys whose content is computed, so that it is made again; rankings first."""
        return (
            self.rankings(project),
            self.task_vectors(project),
            self.known_lessons(project),
            self.known_defects(project),
        )

    def indexes(self, project: str) -> tuple[str, ...]:
        """Return the keys that list a project's tasks in flight, and its announced news."""
        return (self.tasks_in_flight(project), self.task_sizes(project), self.announced(project))
