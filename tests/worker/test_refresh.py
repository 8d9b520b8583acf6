"""The cached rankings follow the store."""

import time
from typing import Any

import redis
from sqlalchemy import update

from tests.worker.working import body, changed, learn, publish
from trackrecord.prompt.documents.rankings_document import RankingsDocument, decode_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_revisions
from trackrecord.store.outcomes.tables import projects
from trackrecord_worker import jobs


def cached(client: redis.Redis, settings: Settings, project: str = "default") -> RankingsDocument:
    data: Any = client.hget(settings.keys.rankings(project), "document")
    return decode_document(data)


def test_after_a_batch_the_rankings_are_there(worker, store_settings, client, engine):
    """Of the projects that changed, with the store's revision, and not for ever."""
    learn(worker, *(body(n) for n in range(3)), body(1, project="other"))
    with reading(engine) as connection:
        revisions = project_revisions(connection)
    for project, revision in revisions.items():
        document = cached(client, store_settings, project)
        assert (document.project, document.revision) == (project, revision)
        ttl: Any = client.ttl(store_settings.keys.rankings(project))
        assert 0 < ttl <= store_settings.rankings_ttl_s
    assert cached(client, store_settings).patterns[0].helpful_count == 3
    answer = RankingsReader(store_settings).read()
    assert "- Split by feature [ESTABLISHED" in answer.prompt
    assert answer.problem is None


def test_many_batches_are_few_refreshes(worker_of, store_settings, client):
    """At most one in each interval, and the last one shows all that was learnt."""
    settings = changed(store_settings, batch_size=10, refresh_every_s=3600, drain_slice_s=60)
    stages = worker_of(settings)
    written = []
    refresh = stages.refresher.refresh
    stages.refresher.refresh = lambda project: written.append(project) or refresh(project)  # type: ignore[method-assign,func-returns-value]
    publish(client, settings, *(body(n) for n in range(200)))
    assert stages.drain.run()["batches"] == 20
    assert written == ["default"] * 2
    assert cached(client, settings).patterns[0].helpful_count == 200


def test_learning_goes_on_where_many_projects_change(worker_of, store_settings, client):
    """Rankings take an eighth of the time while outcomes wait, the oldest change first.

    When nothing waits, the rankings of all projects are fresh.
    """
    settings = changed(store_settings, batch_size=40, refresh_every_s=0.001, drain_slice_s=60)
    stages = worker_of(settings)
    refreshed: list[str] = []
    refresh = stages.refresher.refresh

    def slow(project: str) -> None:
        refreshed.append(project)
        # Twice what may be saved up: more than a batch of so few outcomes earns.
        time.sleep(0.2)
        refresh(project)

    stages.refresher.refresh = slow  # type: ignore[method-assign,assignment]
    names = [f"p{number}" for number in range(8)]
    publish(client, settings, *(body(n, project=names[n % 8]) for n in range(400)))
    while_waiting: list[int] = []
    learn = stages.drain.learn_entries

    def counting(*arguments: Any) -> bool:
        learnt = learn(*arguments)
        while_waiting.append(len(refreshed))
        return learnt

    stages.drain.learn_entries = counting  # type: ignore[method-assign]
    assert stages.drain.run()["batches"] == 10
    # Once what was saved up is used up, a batch must last 1.6 s for another refresh.
    assert while_waiting[0] == 1
    assert while_waiting[-1] < 20
    assert refreshed[: while_waiting[-1]] == names[: while_waiting[-1]]
    assert {cached(client, settings, name).patterns[0].helpful_count for name in names} == {50}


def test_a_slice_that_ends_in_a_backlog_leaves_rankings_to_the_next(
    worker_of, store_settings, client
):
    """Learning goes first; whoever learns the rest brings the rankings up to date, too."""
    settings = changed(store_settings, batch_size=10, refresh_every_s=3600, drain_slice_s=0.1)
    stages = worker_of(settings)
    learn = stages.drain.learn_entries

    def slow(*arguments: Any) -> bool:
        time.sleep(0.2)
        return learn(*arguments)

    stages.drain.learn_entries = slow  # type: ignore[method-assign]
    publish(client, settings, *(body(n) for n in range(60)))
    while not (batches := stages.drain.run()["batches"]):
        pass
    # One batch, and the one that was read ahead.
    assert batches == 2
    assert cached(client, settings).patterns[0].helpful_count == 10
    while client.xlen(settings.keys.outcomes):
        stages.drain.run()
    assert cached(client, settings).patterns[0].helpful_count == 60


def test_many_lost_caches_are_built_again_in_several_goes(
    worker, store_settings, client, monkeypatch
):
    """Neither what is spooled nor the end of the process waits for all of them."""
    monkeypatch.setattr(jobs, "_REFRESH_SLICE_S", 0.0)
    names = [f"p{number}" for number in range(3)]
    publish(client, store_settings, *(body(n, project=name) for n, name in enumerate(names)))
    worker.drain.run()
    jobs.refresh_caches(worker)
    client.flushall()
    refreshed: list[str] = []
    refresh = worker.refresher.refresh

    def slow(project: str, **options: bool) -> None:
        refreshed.append(project)
        refresh(project, **options)

    worker.refresher.refresh = slow  # type: ignore[method-assign]
    for number in (1, 2, 3, 3):
        jobs.refresh_caches(worker)
        assert refreshed == names[:number]
    assert cached(client, store_settings, "p2").patterns[0].helpful_count == 1


def test_what_changed_behind_the_cache_is_noticed(worker, engine):
    """By the revision: a worker may die between its commit and the refresh."""
    learn(worker, body(1))
    with writing(engine) as connection:
        connection.execute(update(projects).values(revision=projects.c.revision + 1))
    assert worker.refresher.refresh_stale() == 1
    assert worker.refresher.refresh_stale() == 0


def test_old_rankings_are_computed_anew(worker_of, store_settings, client):
    """Without any outcome: evidence ages."""
    settings = changed(store_settings, rankings_max_age_s=0.2)
    stages = worker_of(settings)
    learn(stages, body(1))
    before = cached(client, settings)
    time.sleep(0.25)
    assert stages.refresher.refresh_stale() == 1
    assert cached(client, settings).computed_at > before.computed_at


def test_a_database_made_anew_is_not_behind_the_cache(worker_of, home, client, redis_server):
    """Its revisions lie above those that the cache still shows."""
    for name in ("first", "second"):
        settings = load_settings(
            home=home, database_url=f"sqlite:///{home}/{name}.db", drain_block_s=0.01
        )
        stages = worker_of(settings)
        for number in range(5 if name == "first" else 1):
            learn(stages, body(number))
    assert cached(client, settings).patterns[0].helpful_count == 1
