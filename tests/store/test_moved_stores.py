"""A store that an older version moved, or began to move, to another database."""

import pytest
from sqlalchemy import insert

from trackrecord.errors import StoreMoved
from trackrecord.store.database.engine import writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.database.moves import store_moves

_DONE, _BEGUN = 2.0, None


@pytest.mark.parametrize(
    ("direction", "finished_at", "told"),
    [
        ("to", _DONE, "this store was moved to sqlite:///other.db: set TRACKRECORD_DATABASE_URL"),
        ("to", _BEGUN, "empty the table `store_moves` of this database"),
        ("from", _BEGUN, "this store is not complete"),
    ],
)
def test_a_store_that_was_moved_says_so_in_one_line(store, direction, finished_at, told):
    """Whoever opens it is told; nothing is learnt there, and nothing read."""
    _note(store, direction, finished_at)
    with pytest.raises(StoreMoved, match=told) as refused:
        migrate(store)
    assert len(str(refused.value).splitlines()) == 1


def test_the_target_of_a_complete_move_is_a_store_like_any_other(store):
    """It goes on."""
    _note(store, "from", _DONE)
    assert not migrate(store)


def _note(store, direction, finished_at):
    with writing(store) as connection:
        connection.execute(
            insert(store_moves).values(
                token="t",  # noqa: S106 - a name of a move
                direction=direction, other="sqlite:///other.db",
                started_at=1.0, finished_at=finished_at,
            )
        )  # fmt: skip
