"""The cached advice follows the runs, without taking much of a worker's time."""

import time
from collections.abc import Callable
from typing import Any

import redis

import trackrecord
from tests.worker.working import body, publish
from trackrecord.learning.advice.moments.commands import command_id
from trackrecord.learning.advice.moments.facts import KnownFailure, decode_moments
from trackrecord.prompt.reading.cache import read_moments
from trackrecord.prompt.reading.client import RankingsReader, given_readers
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.advice.lesson_decisions import LessonAction, LessonDecision, decide_lesson
from trackrecord.store.database.engine import writing
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord_producers.delivery.ids import new_id
from trackrecord_worker.services import Services


def runs_advised(settings: Settings, project: str = "default") -> int | None:
    """The number of runs that an agent's advice was counted from; None without any advice."""
    advice = RankingsReader(settings).cached(project).advice
    return None if advice is None else advice.runs


def learn(worker: Services, client: redis.Redis, *bodies: bytes) -> None:
    """Have outcomes learnt."""
    publish(client, worker.settings, *bodies)
    worker.drain.run()


def test_advice_is_counted_again_after_new_runs_and_not_without(
    worker: Services, store_settings: Settings, client: redis.Redis
) -> None:
    """Of each project that has some."""
    learn(worker, client, body(1), body(1, project="other"))
    assert worker.adviser.advise_due() == 2
    assert (runs_advised(store_settings), runs_advised(store_settings, "other")) == (1, 1)
    assert worker.adviser.advise_due() == 0
    learn(worker, client, body(2))
    # As if the last count had been long ago, compared with how long it took.
    client.hset(store_settings.keys.rankings("default"), "advice_cost_s", "0")
    assert worker.adviser.advise_due() == 1
    assert runs_advised(store_settings) == 2


def test_a_count_that_took_long_is_not_repeated_soon(
    worker: Services, store_settings: Settings, client: redis.Redis
) -> None:
    """A twentieth of the time at most goes into it."""
    learn(worker, client, body(1))
    worker.adviser.advise("default")
    client.hset(store_settings.keys.rankings("default"), "advice_cost_s", "3600")
    learn(worker, client, body(2))
    assert worker.adviser.advise_due() == 0
    assert runs_advised(store_settings) == 1


def test_what_waits_is_learnt_first(
    worker_of: Callable[[Settings], Services], store_settings: Settings, client: redis.Redis
) -> None:
    """While more outcomes wait than one batch takes, nothing is counted."""
    settings = load_settings(**store_settings.model_dump(exclude_unset=True) | {"batch_size": 2})
    worker = worker_of(settings)
    learn(worker, client, body(1))
    publish(client, settings, *(body(n) for n in range(2, 5)))
    assert worker.adviser.advise_due() == 0
    assert runs_advised(settings) is None
    worker.drain.run()
    assert worker.adviser.advise_due() == 1
    assert runs_advised(settings) == 4


def test_what_is_known_at_a_failure_is_cached_beside_it(
    worker: Services, store_settings: Settings, client: redis.Redis
) -> None:
    """With the line that a session's start says, from five sessions on."""
    calls = [
        {
            "tool": "shell:bun test", "args": {"command": line}, "ok": state == "passed",
            "error": None if state == "passed" else "error: unrecognized subcommand 'bun'",
            "checks": [{"kind": "test", "state": state, "line": line, "is_whole": True}],
        }
        for line, state in (("rtk bun run test", "not started"), ("bun run test", "passed"))
    ]  # fmt: skip
    for number in range(5):
        fields = {"tool_graph": calls, "captured_from": "transcript"}
        learn(worker, client, body(number, **fields, metadata={"session": f"s{number}"}))
    worker.adviser.advise("default")
    _, data = read_moments(client, store_settings, "default")
    assert data is not None
    (facts,) = decode_moments(data).repositories.values()
    failure = facts.failure("line rtk bun run test", "")
    assert failure is not None
    assert (failure.sessions, failure.remedy) == (5, "bun run test")
    advice = RankingsReader(store_settings).cached("default").advice
    assert advice is not None
    (line,) = advice.standing.values()
    assert line.startswith("Tests ran in this repository with `bun run test` (5 sessions")
    assert line.endswith("`rtk bun run test` has failed in the last 5 sessions.")
    # What tells of the same calls is known, so that no session is told twice.
    (lesson,) = (each for each in advice.lessons if each.tools == ("shell:bun test",))
    assert advice.standing_lessons == (lesson.id,)

    def decided(action: LessonAction) -> tuple[KnownFailure | None, dict[str, str]]:
        """Decide as a person; return the known failure and the lines of a session start."""
        broken = LessonDecision(
            command_id("", "test", "rtk bun run test"), action, "ada", "known", time.time()
        )
        with writing(worker.engine) as connection:
            project_id = project_id_of(connection, "default")
            assert project_id is not None
            assert decide_lesson(connection, project_id, broken)
        worker.adviser.advise("default")
        reader = RankingsReader(store_settings)
        advice = reader.cached("default").advice
        assert advice is not None
        known = reader.moments("default").of("").failure("line rtk bun run test", "")
        return known, dict(advice.standing)

    assert decided(LessonAction.DISMISS) == (None, {})
    restored, standing = decided(LessonAction.RESTORE)
    assert (restored, list(standing.values())) == (failure, [line])


def test_the_argument_that_tools_fail_with_is_a_lesson_and_told_at_the_failure(
    worker: Services, store_settings: Settings, client: redis.Redis
) -> None:
    """From the calls as any producer reports them; a dismissed lesson is not told either."""
    error = "Error: certificate cannot be used here"

    def paid(kind: str, number: int) -> dict[str, Any]:
        call = {"tool": "pay", "args": {"method": f"{kind}_{1000 + number}", "of": "A1B2C3"}}
        failed = {"ok": False, "error": error} if kind == "certificate" else {"ok": True}
        return call | failed

    learn(
        worker, client,
        *(
            body(
                number, task_id=f"t{number % 8}",
                tool_graph=[
                    *([paid("certificate", number)] if number % 3 else []),
                    paid("card", number), {"tool": "close"},
                ],
            )
            for number in range(24)
        ),
    )  # fmt: skip
    worker.adviser.advise("default")
    advice = RankingsReader(store_settings).cached("default").advice
    assert advice is not None
    (lesson,) = (each for each in advice.lessons if each.kind == "argument")
    assert lesson.lines["en"].startswith(
        "`pay` failed in all 16 calls in which `method` looks like `certificate_…`"
    )
    _, data = read_moments(client, store_settings, "default")
    assert data is not None
    (known,) = decode_moments(data).arguments
    assert (known.tool, known.lesson) == ("pay", lesson.id)
    with given_readers.within(RankingsReader(store_settings)):
        hint = trackrecord.after_failure(
            "pay",
            arguments={"method": "certificate_77777", "of": "x"},
            error=error,
            session=new_id(),
        )
    assert hint == (
        "trackrecord: `pay` failed in all 16 calls in which `method` looks like `certificate_…`, "
        "in 0 of 24 calls else; with another kind of `method` and nothing else changed it then "
        "worked in all 16 runs."
    )
    with worker.engine.begin() as connection:
        project_id = project_id_of(connection, "default")
        assert project_id is not None
        decision = LessonDecision(lesson.id, LessonAction.DISMISS, "ann", "", time.time())
        decide_lesson(connection, project_id, decision)
    worker.adviser.advise("default")
    _, data = read_moments(client, store_settings, "default")
    assert data is not None
    assert decode_moments(data).arguments == ()


def test_lost_advice_is_counted_again(
    worker: Services, store_settings: Settings, client: redis.Redis
) -> None:
    """Whatever the cache lost."""
    learn(worker, client, body(1))
    worker.adviser.advise_due()
    client.delete(store_settings.keys.rankings("default"))
    assert worker.adviser.advise_due() == 1
    worker.refresher.refresh_stale()
    assert runs_advised(store_settings) == 1
