"""The databases that a store can be in, and everything that their statements do differently.

A new one is a module here and a row in `ALL`. Beyond these modules a database is named where

- its URLs are checked and named: `server_urls` and `daemon_settings`;
- tables differ: the variants of column types in `metadata`, `sqlite_with_rowid` in the `tables` of
  each subject, and the indexes in `every_table`;
- its errors are told apart: busy, or not permitted, in `engine.py`;
- its driver is an extra in pyproject.toml, and a message of its module names that extra.

The tests run on every database that the fixtures of `tests/support/postgres.py` start.
"""

from .base import Dialect
from .postgresql import PostgreSQL
from .sqlite import SQLite

ALL: dict[str, Dialect] = {dialect.name: dialect for dialect in (SQLite(), PostgreSQL())}
