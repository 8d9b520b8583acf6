"""The figures of the metrics, on both databases."""

from pathlib import Path

import pytest
from sqlalchemy import insert, update

from trackrecord.resources.operation.metrics import OTHER, project_figures
from trackrecord.settings.settings import load_settings
from trackrecord.store.competences.tables import consolidation_runs
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.outcomes.tables import projects


@pytest.fixture
def counted(store):
    """Puts projects on record with their counts of successes, failures and unknown ones."""

    def call(**counts):
        with writing(store) as connection:
            for name, (good, bad, unknown) in counts.items():
                row = ensure_projects(connection, [name])[name]
                connection.execute(
                    update(projects)
                    .where(projects.c.id == row)
                    .values(
                        outcomes=good + bad + unknown,
                        successes=good,
                        without_verdict=unknown,
                        last_learnt_at=1000.0 + row,
                    )
                )

    return call


@pytest.fixture
def figures(store):
    """Asks for the figures: each project with its counts."""

    def call(*, only=None, most=100):
        with reading(store) as connection:
            found = project_figures(
                connection, load_settings(home=Path("/nowhere")), only=only, most=most
            )
        assert len({each.project for each in found}) == len(found)
        return {
            each.project: (each.successes, each.failures, each.without_verdict) for each in found
        }

    return call


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_a_project_named_as_the_rest_is_counted_with_it(counted, figures, most):
    """No series is there twice, whatever projects are called."""
    counted(web=(5, 0, 0), other=(1, 2, 3), api=(10, 0, 0))
    found = figures(most=most)
    assert sum(sum(each) for each in found.values()) == 21
    assert found[OTHER] == ((11, 2, 3) if most < 3 else (1, 2, 3))


def test_the_last_consolidation_is_the_last_that_ended(store, counted):
    """A run that goes on, or died, is not one."""
    counted(web=(1, 0, 0), api=(1, 0, 0))
    with writing(store) as connection:
        rows = ensure_projects(connection, ["web", "api"])
        for project, ended in (("web", 100.0), ("web", 200.0), ("web", None), ("api", None)):
            connection.execute(
                insert(consolidation_runs).values(
                    project_id=rows[project], actor="nightly", started_at=50.0, finished_at=ended,
                    episodes_read=0, signatures_touched=0, records_created=0,
                    records_reinforced=0, records_updated=0, skipped="{}",
                )
            )  # fmt: skip
    with reading(store) as connection:
        found = project_figures(
            connection, load_settings(home=Path("/nowhere")), only=None, most=100
        )
    assert {each.project: each.last_consolidation for each in found} == {"web": 200.0, "api": None}
