"""Attempts and errors of tasks in flight, as agents use them, with a real Redis."""

import asyncio
import contextlib
import inspect
import time

import pytest

import trackrecord_producers.attempts.attempt as attempt_module
import trackrecord_producers.attempts.errors_in_flight as errors_in_flight
import trackrecord_producers.attempts.inflight_reader as inflight_reader
from tests.producers.what_became import arrived, spooled
from tests.support.processes import until
from trackrecord.errors import InvalidErrorReport, UnknownId
from trackrecord.inflight.store import InFlightStore
from trackrecord.settings.settings import load_settings
from trackrecord.testing import captured
from trackrecord_producers.attempts.attempt import attempt, current_attempt
from trackrecord_producers.attempts.errors_in_flight import (
    InFlightWriter,
    dropped_errors,
    error_context,
    error_stats,
    list_errors,
    record_error,
    resolve_error,
)
from trackrecord_producers.delivery.notices import Notices
from trackrecord_producers.delivery.retry_count import RetryCounts


@pytest.fixture
def published(monkeypatch):
    """Return the attempts' outcomes at the publisher."""
    outcomes = []

    def take(fields, *, adopts_since):
        outcomes.append(fields)

    monkeypatch.setattr(attempt_module, "publish_fields", take)
    monkeypatch.setattr(attempt_module, "_failed_before", RetryCounts())
    return outcomes


@pytest.fixture
def captured_bodies():
    """The bodies of what attempts publish, where nothing needs to reach Redis."""
    with captured() as taken:
        yield taken.bodies


@pytest.fixture
def agent_of(monkeypatch, published):
    """Makes this process an agent with the given settings."""
    writers = []

    def make(settings):
        writers.append(InFlightWriter(lambda: settings))
        monkeypatch.setattr(errors_in_flight, "_writer", writers[-1])
        monkeypatch.setattr(errors_in_flight, "_notices", Notices())
        monkeypatch.setattr(inflight_reader, "load_agent_settings", lambda: settings)
        inflight_reader._readers.clear()

    yield make
    for writer in writers:
        writer.close()
    inflight_reader._readers.clear()


@pytest.fixture
def redis_up(agent_of, agent_settings, client):
    """This process is an agent whose Redis is there."""
    agent_of(agent_settings)
    return client


@pytest.fixture
def store(redis_up, agent_settings):
    """Return the store as another process reads it."""
    return InFlightStore(redis_up, agent_settings.keys, "default", agent_settings.errors)


def flush():
    assert errors_in_flight._writer.flush(60)


def test_errors_are_asked_for_and_resolved(store):
    """Also those that were recorded without waiting."""
    ids = [record_error("t", kind, "m", wait=0) for kind in ("timeout", "conflict")]
    assert error_stats("t").by_type == {"timeout": 1, "conflict": 1}
    resolve_error(ids[0])
    assert error_stats("t").unresolved == 1
    assert "### conflict (1 error)" in error_context("t")
    assert "timeout" not in error_context("t")
    assert "### timeout (1 error)" in error_context("t", include_resolved=True)
    assert error_context("t", lang="zh").startswith("## 先前错误\n")
    with pytest.raises(UnknownId):
        resolve_error("nonsense")
    record_error("u", "conflict", "m")
    assert [(each.task_id, each.type) for each in list_errors()] == [
        ("u", "conflict"), ("t", "conflict"), ("t", "timeout"),
    ]  # fmt: skip
    assert [each.id for each in list_errors("t", unresolved=True)] == [ids[1]]
    assert [each.task_id for each in list_errors(category="conflict", limit=1)] == ["u"]
    for wrong in ({"category": "nonsense"}, {"limit": 0}, {"task_id": ""}):
        with pytest.raises(InvalidErrorReport):
            list_errors(**wrong)
    with pytest.raises(UnknownId):
        resolve_error(ids[1], project="another")
    assert error_stats("").problem == "a task_id is a text of 1 to 256 characters"
    assert error_stats("", project=[]).total == 0
    assert error_context("") == error_context("t", project="another") == ""


def test_an_error_is_classified_when_nobody_said_what_it_is(store):
    """By the exception or the text; a tool's unknown error is a failure of the tool."""
    try:
        raise ValueError("why")  # noqa: EM101 - the traceback is looked at
    except ValueError as error:
        record_error("t", None, error)
    record_error("t", None, "timed out")
    record_error("t", None, "nobody knows")
    record_error("t", None, "nobody knows", tool_name="grep")
    errors = store.read("t").errors
    assert [error.type for error in errors] == ["validation", "timeout", "unknown", "tool_failure"]
    assert errors[0].message == "ValueError: why"
    assert "test_attempt_accounting.py:" in errors[0].stack_trace


@pytest.mark.parametrize(("task_id", "kind"), [("", "timeout"), (7.5, "timeout")])
def test_what_is_no_error_is_dropped_and_said(agent_of, agent_settings, caplog, task_id, kind):
    """Nothing is raised, and nothing of the content stands in the log."""
    agent_of(agent_settings)
    assert record_error(task_id, kind, "secret") is None
    assert dropped_errors() == {"invalid": 1}
    (line,) = caplog.messages
    assert "invalid" in line
    assert "secret" not in line


def test_an_attempt_records_the_errors_it_met(store, published):
    """As many as its outcome reports, with their types and where they were raised."""
    with contextlib.suppress(TimeoutError), attempt("t") as ours:
        ours.tool("grep", ok=False)
        ours.tool("edit", error=FileExistsError("a.py"))
        ours.error("type error in b.py", context="after a merge", tool_name="mypy")
        ours.error("said outright", type="conflict")
        raise TimeoutError("no answer")  # noqa: EM101 - as above
    flush()
    task = store.read("t")
    (outcome,) = published
    assert outcome["error_count"] == task.stats.total == 5
    assert [(error.type, error.message, error.tool_name) for error in task.errors] == [
        ("tool_failure", "grep failed", "grep"),
        ("conflict", "FileExistsError: a.py", "edit"),
        ("validation", "type error in b.py", "mypy"),
        ("conflict", "said outright", ""),
        ("timeout", "TimeoutError: no answer", ""),
    ]
    assert task.errors[2].context == "after a merge"
    assert "in test_an_attempt_records_the_errors_it_met" in task.errors[4].stack_trace
    assert (outcome["failure_mode"], outcome["failure_details"]) == (
        "timeout",
        "TimeoutError: no answer",
    )
    assert task.strikes == 1


def test_errors_recorded_inside_count_for_the_attempt_at_that_task(store, published):
    """The innermost one, and none for other tasks; raised again they count once."""
    with contextlib.suppress(ValueError), attempt("outer"), attempt("inner"):
        record_error("inner", "timeout", "m")
        record_error("outer", "timeout", "m")
        record_error("other", "timeout", "m")
        error = ValueError()
        record_error("inner", None, error)
        raise error
    flush()
    counts = {outcome["task_id"]: outcome["error_count"] for outcome in published}
    assert counts == {"inner": 2, "outer": 2}
    totals = {name: store.read(name).stats.total for name in ("inner", "outer", "other")}
    assert totals == {"inner": 2, "outer": 2, "other": 1}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError()])
def test_a_cancelled_attempt_is_no_strike(store, published, error):
    """Somebody stopped it: that says nothing about the design."""
    with pytest.raises(type(error)), attempt("t"):
        raise error
    flush()
    assert published[0]["failure_mode"] == "cancelled"
    assert published[0]["error_count"] == store.read("t").stats.total == 1
    assert store.read("t").strikes == 0


def test_nested_attempts_at_one_task_are_one_strike_and_one_error(store, published):
    """A recursion that fails has failed once, though each level reports an outcome."""

    @attempt("t")
    def down(n):
        if n == 0:
            raise ValueError
        down(n - 1)

    with pytest.raises(ValueError):  # noqa: PT011 - any
        down(3)
    flush()
    task = store.read("t")
    assert (task.stats.total, task.strikes) == (1, 1)
    assert [outcome["error_count"] for outcome in published] == [1, 1, 1, 1]
    assert [outcome["retry_count"] for outcome in published] == [0, 0, 0, 0]


def test_retries_are_counted_by_themselves(captured_bodies):
    """A further attempt is one; told as well it counts once, and a success ends the row."""
    for number in range(3):
        with contextlib.suppress(OSError), attempt("t") as ours:
            if number:
                ours.retry()
            raise OSError
    for _ in range(2):
        with attempt("t"):
            pass
    with attempt("t", project="another"):
        pass
    assert [outcome["retry_count"] for outcome in captured_bodies] == [0, 1, 2, 3, 0, 0]


def test_calls_of_a_function_that_names_no_task_are_no_retries(captured_bodies):
    """They are attempts at whatever they were called with."""

    @attempt()
    def work():
        raise OSError

    for _ in range(3):
        with contextlib.suppress(OSError):
            work()
    assert [outcome["retry_count"] for outcome in captured_bodies] == [0, 0, 0]


def test_a_task_of_another_project_is_that_projects(redis_up, agent_settings):
    """The attempt's own project decides."""
    with contextlib.suppress(ValueError), attempt("t", project="p:q"):
        raise ValueError
    assert error_stats("t", project="p:q").total == 1
    assert error_stats("t").total == 0


def test_a_cancelled_task_is_cancelled_still(store, published):
    """The attempt neither swallows the cancellation nor waits in it."""

    async def main():
        @attempt("t")
        async def work():
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel("because")
        with pytest.raises(asyncio.CancelledError, match="because"):
            await task
        assert task.cancelled()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await work()

    asyncio.run(main())
    assert [outcome["failure_mode"] for outcome in published] == ["cancelled", "cancelled"]


def _plain():
    log = []
    try:
        while True:
            try:
                sent = yield len(log)
                log.append(sent)
                if sent == "return":
                    return log
                if sent == "raise":
                    raise LookupError(sent)
            except KeyError as error:
                log.append(("caught", str(error)))
    finally:
        log.append("closed")


PROGRAMS = [
    [("send", 1), ("send", 2), ("send", "return")],
    [("send", 1), ("throw", KeyError("k")), ("send", "return")],
    [("throw", ValueError("v"))],
    [("send", "raise")],
    [("throw", KeyError("k")), ("throw", KeyError("l")), ("throw", StopIteration(7))],
    [("send", 1), ("close", None), ("send", 2)],
    [("send", 1), ("throw", GeneratorExit())],
    [("throw", KeyboardInterrupt())],
]


def _run(generator, program):
    """All that one sees of a generator from outside."""
    seen = []
    try:
        seen.append(next(generator))
        for how, what in program:
            if how == "close":
                seen.append(generator.close())
            else:
                seen.append(getattr(generator, how)(what))
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is compared
        cause = error.__cause__
        seen.append((type(error), str(error), getattr(error, "value", None), type(cause)))
    return seen


def _is_reported(bodies, program):
    """Check the one outcome: a consumer that had enough, and closes, has not failed."""
    (body,) = bodies
    ends = [("send", "return"), ("close", None)]
    is_closed = any(end in program for end in ends) or isinstance(program[-1][1], GeneratorExit)
    assert body["success"] is is_closed


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_generator_behaves_as_if_nobody_looked(captured_bodies, program):
    """Whatever is sent, thrown or closed: the same values, returns and exceptions."""
    expected = _run(_plain(), program)
    assert _run(attempt("t")(_plain)(), program) == expected
    _is_reported(captured_bodies, program)


async def _async_plain():
    log = []
    try:
        while True:
            try:
                sent = yield len(log)
                await asyncio.sleep(0)
                log.append(sent)
                if sent == "return":
                    return
                if sent == "raise":
                    raise LookupError(sent)
            except KeyError as error:
                log.append(("caught", str(error)))
    finally:
        await asyncio.sleep(0)


async def _arun(generator, program):
    seen = []
    names = {"send": "asend", "throw": "athrow"}
    try:
        seen.append(await anext(generator))
        for how, what in program:
            if how == "close":
                seen.append(await generator.aclose())
            else:
                seen.append(await getattr(generator, names[how])(what))
    except BaseException as error:  # noqa: BLE001 - as above
        seen.append((type(error), str(error), type(error.__cause__)))
    return seen


@pytest.mark.parametrize("program", PROGRAMS[:-1])
def test_an_asynchronous_generator_behaves_as_if_nobody_looked(captured_bodies, program):
    """As a plain one does."""
    expected = asyncio.run(_arun(_async_plain(), program))
    assert asyncio.run(_arun(attempt("t")(_async_plain)(), program)) == expected
    _is_reported(captured_bodies, program)


def test_class_and_static_methods_can_be_decorated(captured_bodies):
    """In either order of the decorators."""

    class Agent:
        @attempt("a")
        @classmethod
        def make(cls):
            return cls, current_attempt().task_id

        @attempt("b")
        @staticmethod
        def add(a, b):
            return a + b, current_attempt().task_id

        @classmethod
        @attempt("c")
        def make_too(cls):
            return cls

    assert Agent.make() == (Agent, "a")
    assert Agent().add(1, 2) == (3, "b")
    assert Agent.make_too() is Agent
    assert not inspect.iscoroutinefunction(Agent.add)


@pytest.mark.faults
def test_a_server_that_hangs_is_waited_for_once(agent_of, home, hung_port, caplog):
    """Not by each who records; and the text is empty after one timeout."""
    agent_of(
        load_settings(home=home, redis_url=f"redis://127.0.0.1:{hung_port}/0", redis_timeout_s=0.5)
    )
    begin = time.monotonic()
    for _ in range(100):
        assert record_error("t", "timeout", "m")
    assert [error_context("t") for _ in range(100)] == [""] * 100
    # A time-out for each would be 50 seconds twice over.
    assert time.monotonic() - begin < 25.0
    stats = error_stats("t")
    assert (stats.total, stats.by_type) == (0, {})
    assert "Redis" in stats.problem
    assert any("prompts lack earlier errors" in line for line in caplog.messages)


def test_errors_wait_in_memory_until_redis_is_back(agent_of, home, redis_server):
    """In the order in which they were recorded, each once."""
    path = home / "later.sock"
    agent_of(load_settings(home=home, redis_url=f"unix://{path}", retry_after_s=0.05))
    for number in range(20):
        record_error("t", "timeout", str(number), wait=0)
    time.sleep(0.2)
    path.symlink_to(home / "redis.sock")
    until(
        lambda: errors_in_flight._writer.flush(0) or not len(errors_in_flight._writer._writer.queue)
    )
    settings = load_settings(home=home)
    with redis_server.client() as client:
        errors = InFlightStore(client, settings.keys, "default", settings.errors).read("t").errors
    assert [error.message for error in errors] == [str(number) for number in range(20)]


def test_memory_is_bounded_while_redis_is_away(agent_of, home, closed_port, caplog):
    """What finds no room is dropped and counted, and so is what is left at the end."""
    agent_of(load_settings(home=home, redis_url=f"redis://127.0.0.1:{closed_port}/0"))
    kept = [record_error("t", "timeout", "m", wait=0) for _ in range(3000)]
    writer = errors_in_flight._writer
    assert writer.drops.by_reason()["queue_full"] == kept.count(None) >= 800
    writer.close()
    assert writer.drops.total() == 3000
    assert record_error("t", "timeout", "m") is None


def test_a_full_redis_costs_the_report_and_no_more(redis_up, store):
    """It is counted as refused, and the next one gets through."""
    redis_up.config_set("maxmemory", 1)
    record_error("t", "timeout", "m")
    assert dropped_errors() == {"refused": 1}
    redis_up.config_set("maxmemory", 0)
    record_error("t", "timeout", "m")
    assert store.read("t").stats.total == 1


@pytest.mark.faults
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_record_on_their_own(method, agent, client, home, settings):
    """However they were made, and though they end right after."""
    (home / "agent_module.py").write_text(
        # What a busy machine takes seconds to import is not what is tested here.
        "import trackrecord, trackrecord_producers.publishing.delivery, "
        "trackrecord_producers.attempts.inflight_delivery\n"
        "def work(n):\n"
        "    with trackrecord.attempt('t') as ours:\n"
        "        ours.error(f'child {n}')\n"
        "        ours.fail('wrong_answer')\n"
    )
    done = agent(
        f"""
        import sys
        sys.path.insert(0, {str(home)!r})
        import multiprocessing, trackrecord, agent_module
        trackrecord.record_error("t", "timeout", "parent")
        context = multiprocessing.get_context({method!r})
        children = [context.Process(target=agent_module.work, args=(n,)) for n in range(4)]
        [child.start() for child in children]
        [child.join() for child in children]
        assert [child.exitcode for child in children] == [0] * 4
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    task = InFlightStore(client, settings.keys, "default", settings.errors).read("t")
    messages = sorted(error.message for error in task.errors)
    assert messages == [f"child {n}" for n in range(4)] + ["parent"]
    assert task.strikes == 4
    assert len({body["outcome_id"] for body in arrived(client) + spooled(home)}) == 4


def test_wrong_settings_never_hurt_the_agent(agent):
    """What is reported is dropped, what is asked for in passing is empty; the log says why."""
    done = agent(
        """
        import trackrecord
        print(trackrecord.record_error("t", "timeout", "m") is not None)
        print(repr(trackrecord.error_context("t")))
        print(trackrecord.dropped_errors())
        """,
        TRACKRECORD_ERRORS__STRIKES="0",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True", "''", "{'bad_settings': 1}"]
    assert "strikes" in done.stderr
