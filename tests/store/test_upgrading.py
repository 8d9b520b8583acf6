"""A database of the first version keeps what it holds, and says that a rebuild is due."""

from alembic import command
from alembic.config import Config
from sqlalchemy import text
from teaching import CRITERIA, DEFAULTS, NOW, RULES, outcome

from trackrecord.store.criteria.feedback import feedback_of_task
from trackrecord.store.criteria.read import read_criteria
from trackrecord.store.database import migrate
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.outcomes.recorded_rules import rebuilds_due


def first_version(engine):
    """A database as the first version left it, with one outcome that names a criterion."""
    config = Config()
    config.set_main_option("script_location", str(migrate._MIGRATIONS))
    known = outcome(1, criteria={"own": "harmful"})
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text("INSERT INTO projects (id, name, revision, outcomes, successes)"
                 " VALUES (1, 'default', 1, 1, 1)")
        )  # fmt: skip
        connection.execute(text("INSERT INTO decay_bases VALUES (1, 90.0, :now)"), {"now": NOW})
        connection.execute(
            text("INSERT INTO outcomes (project_id, outcome_id, task_id, received_at, ended_at,"
                 " success, raw_score, verdict, body)"
                 " VALUES (1, 'o1', 't1', :now, :now, true, 1.0, 'helpful', :body)"),
            {"now": NOW, "body": known.body},
        )  # fmt: skip


def test_from_the_first_version(store_url):
    """Nothing is lost; a rebuild gives criteria their feedback of all that time."""
    engine = connect_store(store_url)
    first_version(engine)
    assert migrate.migrate(engine) is True
    with reading(engine) as connection:
        due = rebuilds_due(connection, RULES.recorded, 90.0)
        assert due == {"default": ("the recorded numbers were learnt by an earlier version",)}
        assert read_criteria(connection, 1, CRITERIA, now=NOW) == []
    with writing(engine) as connection:
        rebuild_patterns(connection, 1, RULES, now=NOW)
    with reading(engine) as connection:
        assert rebuilds_due(connection, RULES.recorded, 90.0) == {}
        present = read_criteria(connection, 1, CRITERIA, now=NOW)
        assert present == read_criteria(connection, 1, CRITERIA, now=NOW, at=NOW)
        of_task = feedback_of_task(connection, 1, "t1", DEFAULTS)
    assert {each.criterion: each.verdict for each in of_task}["own"] == "harmful"
    assert {each.criterion: each.evidence.harmful for each in present} == {
        "own": 1, "type_safe": 0, "no_bugs": 0, "patterns": 0, "readable": 0,
    }  # fmt: skip
    engine.dispose()
