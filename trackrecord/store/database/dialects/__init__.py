"""The databases that a store can be in, and everything that their statements do differently.

Beyond these modules a database is named in three places: the schemes of URLs (`server_urls`,
`daemon_settings`), the variants of column types (`metadata`) and `partial_indexes`.
"""

from .base import Dialect
from .postgresql import PostgreSQL
from .sqlite import SQLite

ALL: dict[str, Dialect] = {dialect.name: dialect for dialect in (SQLite(), PostgreSQL())}
