"""Run leases: one run at a time per project, without a lock server."""

import time
from dataclasses import dataclass, field
from uuid import uuid4

from sqlalchemy import Connection

from trackrecord.errors import AlreadyRunning
from trackrecord.store.competences.consolidation.runs import run_lease_name
from trackrecord.store.database.leases import drop_lease, renew_lease, take_lease


@dataclass(frozen=True)
class RunLease:
    """One run's lease on a project.

    Attributes:
        project: the project's name.
        seconds: after how long without a sign of life another run may take over.
        holder: a unique name of this run.
    """

    project: str
    seconds: float
    holder: str = field(default_factory=lambda: uuid4().hex)

    @property
    def _name(self) -> str:
        return run_lease_name(self.project)

    def take(self, connection: Connection) -> None:
        """Take the lease.

        Raises:
            AlreadyRunning: another run holds it.
        """
        now = time.time()
        if not take_lease(connection, self._name, self.holder, now=now, seconds=self.seconds):
            message = (
                f"project {self.project!r} is being consolidated already; a run that died is "
                f"replaced after {self.seconds:g} s"
            )
            raise AlreadyRunning(message)

    def keep(self, connection: Connection) -> None:
        """Renew the lease; until the transaction ends no other run can take it.

        Raises:
            AlreadyRunning: the lease expired and another run took over.
        """
        now = time.time()
        if not renew_lease(connection, self._name, self.holder, now=now, seconds=self.seconds):
            message = f"another run has taken over the consolidation of project {self.project!r}"
            raise AlreadyRunning(message)

    def give_back(self, connection: Connection) -> None:
        """End the lease."""
        drop_lease(connection, self._name, self.holder)
