"""The databases that a store can be in; everything they do differently is said here."""

from .base import Dialect
from .postgresql import PostgreSQL
from .sqlite import SQLite

ALL: dict[str, Dialect] = {dialect.name: dialect for dialect in (SQLite(), PostgreSQL())}
