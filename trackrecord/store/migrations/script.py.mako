## A fresh store is made from the `tables` of each subject, and a revision brings the stores of
## earlier versions there. So a new column stands in `tables` and in a revision:
##     op.add_column("hints", sa.Column("seen_at", sa.Double()))
## Where it may not be NULL, it has the same `server_default` in both, which the rows of older exports
## get, too. What SQLite cannot alter, `with op.batch_alter_table("hints") as table:` alters on both
## databases. A new table, spelled out in the revision, is emptied by `store/intake/forget_project.py`
## if a project's rows are in it; `transfer/subjects.py` says which tables are not exported. An index
## over a part of the rows, and a new module of tables, stand in `store/intake/every_table.py`. An
## index or a setting of one database alone is a row of `ddl_extras` in `store/database/dialects`, and
## needs an empty revision. `tests/store/test_migrations.py` compares a migrated store with a fresh
## one; the newest revision is named nowhere else.
"""${message}"""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    ${upgrades if upgrades else "pass"}
