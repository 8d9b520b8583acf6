"""Turns: one run at a time per project, without a server of its own for that."""

import time
from dataclasses import dataclass, field
from uuid import uuid4

from sqlalchemy import Connection

from trackrecord.errors import AlreadyRunning
from trackrecord.store.database.leases import drop_lease, renew_lease, take_lease


@dataclass(frozen=True)
class Turn:
    """One run's turn at a project.

    Attributes:
        project: the project's name.
        seconds: after how long without a sign of life another run may take over.
        holder: a name of this run's own.
    """

    project: str
    seconds: float
    holder: str = field(default_factory=lambda: uuid4().hex)

    @property
    def _name(self) -> str:
        return f"consolidate:{self.project}"

    def take(self, connection: Connection) -> None:
        """Take the turn.

        Raises:
            AlreadyRunning: another run has it.
        """
        now = time.time()
        if not take_lease(connection, self._name, self.holder, now=now, seconds=self.seconds):
            message = (
                f"project {self.project!r} is being consolidated already; a run that died is "
                f"replaced after {self.seconds:g} s"
            )
            raise AlreadyRunning(message)

    def keep(self, connection: Connection) -> None:
        """Make sure, until the transaction ends, that the turn is still this run's.

        Raises:
            AlreadyRunning: it took so long that another run took over.
        """
        now = time.time()
        if not renew_lease(connection, self._name, self.holder, now=now, seconds=self.seconds):
            message = f"another run has taken over the consolidation of project {self.project!r}"
            raise AlreadyRunning(message)

    def give_back(self, connection: Connection) -> None:
        """End the turn."""
        drop_lease(connection, self._name, self.holder)
