"""The tables of 0.1.0, from which the others go on; see `env.py` for a store without any."""

# Not "0001" or "r0001": versions before the first release wrote these into their databases.
revision = "first_release"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: no store is brought here, those of 0.1.0 are here already."""
