"""Moving a whole store: every answer stays the same, wherever the move was interrupted."""

import signal

import pytest
from sqlalchemy import select

from tests.support.dying import exit_code_of
from tests.transfer.killed_move import move_until
from tests.transfer.random_stores import RULES, History, all_rows, asked_for, lists
from trackrecord.errors import (
    AlreadyRunning,
    SchemaTooNew,
    StoreMoved,
    StoreUnavailable,
    TransferRefused,
)
from trackrecord.store.database.dialects import ALL
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.database.moves import move_steps, store_moves
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.write import remember
from trackrecord.store.outcomes.tables import projects
from trackrecord.store.transfer.move import Moved, cancel_move, move_store, moved_tables
from trackrecord.store.transfer.places import StorePlace

NOW = 1_790_000_000.0
ASKED = ("memories", "similar", "fix the login build of Oslo 修复登录", "--json", "--at", f"{NOW}")


def silent(_table, _copied, _total):
    """Reports nothing."""


def moved(source, target, names=("a", "b"), report=silent) -> Moved:
    places = [StorePlace(store, name) for store, name in zip((source, target), names, strict=True)]
    return move_store(*places, now=NOW, report=report)


def add_memory(store, text="A memory of its own", name="new"):
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        remember(connection, project_id, text, memory_id=name, rules=RULES.memories, now=NOW)


@pytest.mark.parametrize("seed", [1, 30])
def test_there_and_back_every_list_stays_the_same(seed, postgres_url, opened, new_store, tmp_path):
    """From SQLite to PostgreSQL and back: each list and each row, byte for byte."""
    first, second = new_store(), opened(postgres_url)
    one, three = str(first.url), f"sqlite:///{tmp_path / 'three.db'}"
    History(first, seed).go_on(25)
    History(first, seed + 100, "ein anderes").go_on(12)
    index_past_tasks(first)
    before = dict(lists(one))
    assert sum(map(len, before.values())) > 2000
    found = asked_for(one, *ASKED)
    moved(first, second)
    assert dict(lists(postgres_url)) == before
    third = opened(three)
    moved(second, third)
    assert dict(lists(three)) == before
    assert all_rows(third, moved_tables()) == all_rows(first, moved_tables())
    assert asked_for(three, *ASKED) == found


def test_the_moved_store_goes_on(store, empty_store_url, opened):
    """What is written there gets new numbers, and is compared with what was moved."""
    History(store, 5).go_on(10)
    add_memory(store, "Port 9200 is taken by the search server")
    target = opened(_another(empty_store_url))
    moved(store, target)
    History(target, 6).go_on(20)
    with writing(target) as connection:
        same = remember(
            connection, 1, "port 9200 is taken by the search server",
            memory_id="other", rules=RULES.memories, now=NOW,
        )  # fmt: skip
    assert (same.is_new, same.memory.id) == (False, "new")


def _another(url):
    """A database beside the one of the `store` fixture, which may have the same file name."""
    return url.replace("trackrecord.db", "another.db")


@pytest.mark.parametrize("to", ["postgresql", "sqlite"])
def test_killed_at_any_moment_it_goes_on(to, postgres_url, opened, new_store, tmp_path):
    """The process dies again and again, each time a little later: nothing is lost or doubled."""
    first = new_store()
    one = str(first.url)
    other = postgres_url if to == "postgresql" else f"sqlite:///{tmp_path / 'two.db'}"
    History(first, 11).go_on(12)
    index_past_tasks(first)
    before = all_rows(first, moved_tables())
    deaths = 0
    # Each life goes further than the one before it: a copy that began anew would not end.
    while (code := exit_code_of(move_until, 70 + 9 * deaths, one, other)) == -signal.SIGKILL:
        deaths += 1
        assert deaths < 200
    assert (code, deaths > 5) == (0, True)
    assert all_rows(opened(other), moved_tables()) == before
    second = opened(other)
    with reading(second) as connection:
        assert connection.execute(select(move_steps)).all() == []
    assert moved(first, second).was_done


def test_a_store_that_is_moved_takes_nothing_in(store, empty_store_url, opened):
    """From the beginning on: who writes is told where to; who reads is answered."""
    History(store, 3).go_on(6)
    target = opened(_another(empty_store_url))
    seen = []

    def report(_table, _copied, _total):
        for closed in (store, target):
            with pytest.raises(StoreMoved) as refused:
                add_memory(closed)
            seen.append(str(refused.value))
        with pytest.raises(StoreMoved, match="not complete"):
            migrate(target)

    moved(store, target, ("sqlite:///a", "postgresql://u:***@h/b"), report)
    assert "is being moved to postgresql://u:***@h/b" in seen[0]
    assert "the move from sqlite:///a was interrupted" in seen[1]
    with pytest.raises(StoreMoved, match="set TRACKRECORD_DATABASE_URL to that database"):
        add_memory(store)
    add_memory(target)
    with reading(store) as connection:
        assert connection.execute(select(projects.c.name)).scalars().all() == ["default"]


def test_a_move_can_be_cancelled(store, empty_store_url, opened):
    """The store takes outcomes in again; the half of it that was copied is not overwritten."""
    History(store, 3).go_on(3)
    target = opened(_another(empty_store_url))

    def interrupt(_table, copied, _total):
        if copied:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moved(store, target, report=interrupt)
    assert cancel_move(StorePlace(store, "a")) == "b"
    add_memory(store)
    assert cancel_move(StorePlace(store, "a")) is None
    with pytest.raises(TransferRefused, match="empty database"):
        moved(store, target)
    add_memory(store, name="again")


def test_a_writer_that_was_there_first_is_waited_for(postgres_url, opened):
    """What it writes is moved: the store is not closed before it is done."""
    store = opened(postgres_url)
    migrate(store)
    impatient = connect_store(postgres_url, timeout_s=0.2)
    with writing(store) as connection:
        ensure_projects(connection, ["late"])
        target = opened("sqlite://")
        with pytest.raises(StoreUnavailable, match="locked by another process"):
            moved(impatient, target)
    with reading(store) as connection:
        assert connection.execute(select(store_moves)).all() == []
    impatient.dispose()
    moved(store, target)
    with reading(target) as connection:
        assert connection.execute(select(projects.c.name)).scalars().all() == ["late"]


def test_another_target_is_refused(store, tmp_path, opened):
    """One with data, the same one, one of a newer version, and a second one."""
    History(store, 3).go_on(3)
    used = opened(f"sqlite:///{tmp_path / 'used.db'}")
    migrate(used)
    add_memory(used)
    before = all_rows(used, moved_tables())
    with pytest.raises(TransferRefused, match="holds data already"):
        moved(store, used)
    assert all_rows(used, moved_tables()) == before
    with pytest.raises(TransferRefused, match="in already"):
        moved(store, opened(store.url.render_as_string(hide_password=False)))
    newer = opened(f"sqlite:///{tmp_path / 'newer.db'}")
    migrate(newer)
    with newer.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'r9999'")
    with pytest.raises(SchemaTooNew):
        moved(store, newer)
    cancel_move(StorePlace(store, "a"))
    other, second = (opened(f"sqlite:///{tmp_path / name}.db") for name in ("other", "second"))
    moved(store, other)
    with pytest.raises(TransferRefused, match="was moved to b"):
        moved(store, second)
    add_memory(other)


def test_two_moves_at_a_time_do_not_double_a_row(store, empty_store_url, opened):
    """The one that comes later to a batch ends and says why."""
    History(store, 4).go_on(6)
    target = opened(_another(empty_store_url))
    ended = []

    def overtaken(table, copied, _total):
        if table == "patterns" and copied == 0 and not ended:
            ended.append(moved(store, target))

    with pytest.raises(AlreadyRunning):
        moved(store, target, report=overtaken)
    assert all_rows(target, [projects]) == all_rows(store, [projects])


def test_every_full_text_index_is_made_again():
    """A new one needs a line in transfer/move.py, where the two that are known are made."""
    known = {"memory_words", "task_words"}
    for dialect in ALL.values():
        names = {name.removeprefix("ix_") for extra in dialect.ddl_extras for name in extra.names}
        assert {name for name in names if not name.startswith("outcomes_")} == known
