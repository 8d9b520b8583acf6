"""What the tables are to a transfer: which are of one store alone, and which follow from others."""

from typing import Final

from sqlalchemy import Table

from trackrecord.store.database.leases import leases
from trackrecord.store.database.moves import move_steps, store_moves

# Of the one store: who works there, and how its own moves stand.
NOT_MOVED: Final[frozenset[Table]] = frozenset({leases, move_steps, store_moves})
