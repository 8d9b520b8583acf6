"""What selection compares of competence records, and what outcomes credit to them."""

import msgspec
import sqlalchemy as sa
from alembic import op

from trackrecord.learning.competences.record import Competence
from trackrecord.store.competences.rebuild_credit import credit_again
from trackrecord.store.competences.selection_index import write_numbers

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "competence_numbers",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("competence_id", sa.String(length=64), nullable=False),
        sa.Column("is_selectable", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("last_reinforced_at", sa.Double(), nullable=True),
        sa.Column("half_life_days", sa.Double(), nullable=False),
        sa.Column("words_key", sa.BigInteger(), nullable=True),
        sa.Column("text_digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("credited_successes", sa.BigInteger(), nullable=False),
        sa.Column("credited_failures", sa.BigInteger(), nullable=False),
        sa.Column("credited_latency_sum_ms", sa.BigInteger(), nullable=False),
        sa.Column("credited_latency_count", sa.BigInteger(), nullable=False),
        sa.Column("credited_last_used_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "competence_id", name=op.f("pk_competence_numbers")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "competence_credits",
        sa.Column("competence_id", sa.String(length=64), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.Column("is_pending", sa.Boolean(), nullable=False),
        sa.Column("counted_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("competence_id", "outcome", name=op.f("pk_competence_credits")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_competence_credits_project", "competence_credits", ["project_id"], unique=False
    )
    op.create_index(
        "ix_competence_credits_pending",
        "competence_credits",
        ["competence_id"],
        unique=False,
        sqlite_where=sa.text("is_pending"),
        postgresql_where=sa.text("is_pending"),
    )
    op.create_table(
        "competence_words",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("word", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("phrase", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "word", "phrase", name=op.f("pk_competence_words")),
        sqlite_with_rowid=False,
    )
    _fill(op.get_bind())


def _fill(connection: sa.Connection) -> None:
    """From the records and outcomes that are there.

    By today's code on purpose: the words must be those that today's code looks for. It names the
    columns it needs, so that later ones do not matter.
    """
    decoder = msgspec.json.Decoder(Competence)
    rows = connection.execute(sa.text("SELECT project_id, record FROM competences")).all()
    for project_id in sorted({row.project_id for row in rows}):
        records = [decoder.decode(row.record) for row in rows if row.project_id == project_id]
        write_numbers(connection, project_id, records, {})
        credit_again(connection, project_id)
