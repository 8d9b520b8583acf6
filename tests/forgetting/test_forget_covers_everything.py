"""Whatever is new in the store or in Redis must be forgotten, too."""

from trackrecord.redis.keys import Keys
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.intake.forget_project import NAMING, OWN, OWNED

# Tables that hold nothing of a project: who works, moves of the whole store, and what keeps the
# forgotten from coming back, which holds digests alone.
OF_NO_PROJECT = {"leases", "store_moves", "forgotten_ids", "forgettings"}
# Keys of all projects by something else: those whose entries name their project.
OF_CHANNELS = {"notifications"}
# Keys that are not a project's own: both streams are looked through entry by entry, the set of
# changed tasks loses its members with their tasks, and the rest names no project.
OF_ALL_PROJECTS = {
    "outcomes", "dead", "dead_size", "clock", "changed_tasks", "counters", "workers",
    "database_outage",
    "database_away", "redis_outage",
}  # fmt: skip
# Keys of one task each, which are found by way of the project's index.
OF_A_TASK = {"task_in_flight", "retry"}
LISTS = {"computed", "indexes"}
# What keys are made of, and the keys of the other shards, which are looked through as well.
SHARDS = {"prefix", "number", "shards", "possible_strays", "of", "mark"}


def test_every_table_is_forgotten_with_its_project():
    """A table that is in none of the lists is one that forget would leave behind."""
    covered = {table.name for table in (*OWN, *OWNED, *NAMING)} | {"projects"} | OF_NO_PROJECT
    assert set(metadata.tables) == covered
    for table in OWN:
        assert "project_id" in table.c, table.name
    for table, (column, owner) in OWNED.items():
        assert column in table.c, table.name
        assert owner in OWN
    for table, column in NAMING.items():
        assert column in table.c, table.name


def test_every_key_of_redis_is_forgotten_with_its_project():
    """A key that is in none of the lists is one that forget would leave behind."""
    keys = Keys("t")
    public = {name for name in dir(keys) if not name.startswith("_")}
    of_project = public - OF_ALL_PROJECTS - OF_A_TASK - OF_CHANNELS - LISTS - SHARDS
    covered = {*keys.computed("p"), *keys.indexes("p")}
    assert {getattr(keys, name)("p") for name in of_project} == covered
