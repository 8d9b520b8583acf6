"""Metadata that every table belongs to, and column types that differ by database."""

from sqlalchemy import BigInteger, Integer, MetaData, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite gives rowids only to INTEGER keys; PostgreSQL wants 64 bits.
Id = BigInteger().with_variant(Integer, "sqlite")
# Compared by code point on both, so that the smallest of two texts is the same one everywhere.
CodePointText = Text().with_variant(Text(collation="C"), "postgresql")
