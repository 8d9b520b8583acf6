"""The indexes of competences over a part of a table's rows.

Apart from the tables: SQLAlchemy imports the whole of a database's dialect to check what an index
has of its own there, and only migrations need to know them. An index of one database alone is one
of the `ddl_extras` of its dialect.
"""

from sqlalchemy import Index

from .tables import competence_credits, signatures

Index(
    "ix_signatures_changed",
    signatures.c.project_id,
    signatures.c.id,
    sqlite_where=signatures.c.changed,
    postgresql_where=signatures.c.changed,
)

Index(
    "ix_competence_credits_pending",
    competence_credits.c.competence_id,
    sqlite_where=competence_credits.c.is_pending,
    postgresql_where=competence_credits.c.is_pending,
)
