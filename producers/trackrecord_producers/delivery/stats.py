"""The counts of one process's published outcomes."""

from dataclasses import dataclass

import msgspec


class DeliveryCounts(msgspec.Struct):
    """Counts that the writing thread keeps.

    Attributes:
        sent: outcomes that Redis acknowledged.
        spooled: outcomes that were written to the spool instead.
        forwarded: outcomes of the spool, anyone's, that this process brought to Redis.
    """

    sent: int = 0
    spooled: int = 0
    forwarded: int = 0


@dataclass(frozen=True)
class Stats:
    """The counts of publishing in this process.

    Attributes:
        published: outcomes that were accepted from the agent.
        waiting: those of them that are still in memory.
        sent: those that Redis acknowledged.
        spooled: those that were written to the spool instead.
        forwarded: outcomes of the spool, anyone's, that this process brought to Redis.
        dropped: outcomes that were lost, by reason.
        mended: how often NUL or half a surrogate pair was replaced in what was published.
    """

    published: int
    waiting: int
    sent: int
    spooled: int
    forwarded: int
    dropped: dict[str, int]
    mended: int = 0
