## A new revision also needs its table, column or index in the `tables` of its subject (an index over
## a part of the rows: in `partial_indexes`). A new module of tables is a line of
## `store/intake/every_table.py`. A new table that a project's rows are in is emptied by
## `store/intake/forget_project.py`; `transfer/subjects.py` says which tables are not exported. An
## index or a setting of one database alone is a row of `ddl_extras` in `store/database/dialects`,
## and needs an empty revision. `tests/store/test_migrations.py` compares the schema with the tables;
## the newest revision is named nowhere else.
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
