"""Tasks in flight in a real Redis: nothing is lost, doubled, mixed up or kept for ever."""

import multiprocessing
import time
from collections import Counter

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.backoff import NoBackoff
from redis.retry import Retry

from trackrecord.errors import InvalidErrorReport, RefusedByRedis, ServerUnavailable, UnknownId
from trackrecord.inflight.errors import ERROR_TYPES, ErrorStats
from trackrecord.inflight.reports import AttemptEnd, digest_in, error_report, task_digest
from trackrecord.inflight.rules import ErrorRules
from trackrecord.inflight.store import InFlightStore
from trackrecord.redis.keys import Keys

KEYS = Keys("trackrecord")


@pytest.fixture
def store_of(client):
    """Makes the store of a project."""

    def make(project="p", **rules):
        return InFlightStore(client, KEYS, project, ErrorRules(**rules))

    return make


def record(store, task_id="t", kind="validation", message="m", **more):
    report = error_report(task_id, kind, message, **more)
    store.write(report)
    return report.id


def end(store, number, *, success=False, task_id="t"):
    store.write(AttemptEnd(f"attempt-{number}", task_id, success))


@pytest.mark.parametrize(
    "unknown", ["", "0" * 52, "a:b", "\ud800", "\0", "0" * 51 + "\n", "９" * 52, "x" * 10_000]
)
def test_an_unknown_id_is_an_error(store_of, unknown):
    """In one line, whatever it is made of."""
    with pytest.raises(UnknownId) as caught:
        store_of().resolve(unknown)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 600


def test_a_report_told_again_changes_nothing(store_of):
    """A pipeline whose answer was lost is sent again."""
    store = store_of()
    report = error_report("t", "conflict", "m")
    for _ in range(3):
        store.write(report, AttemptEnd("a", "t", success=False))
    task = store.read("t")
    assert (task.stats.total, task.strikes) == (1, 1)


NAMES = ["a", "a:b", "b:a", "", ":", "*", "p:in-flight", "tasks:p", "task:" + "0" * 24 + ":p", "项"]


def test_projects_and_tasks_are_kept_apart(store_of, client):
    """However they are named: each has its own errors, and no id reaches into another project."""
    names = [name for name in NAMES if name]
    ids = {
        (project, task): record(store_of(project), task, message=f"{project} {task}")
        for project in names
        for task in names
    }
    for (project, task), error_id in ids.items():
        (error,) = store_of(project).read(task).errors
        assert (error.id, error.message) == (error_id, f"{project} {task}")
        with pytest.raises(UnknownId):
            store_of(project + "!").resolve(error_id)
    store_of("a").resolve(ids["a", "a"])
    assert store_of("a").read("a").stats.unresolved == 0
    assert store_of("b:a").read("a").stats.unresolved == 1
    assert all(key.startswith(b"trackrecord:in-flight:") for key in client.keys("*"))


def test_strikes_count_failures_in_a_row(store_of, client):
    """A success ends the row, resolves what was in the way, and of a clean task leaves no trace."""
    store = store_of()
    end(store, 0, success=True)
    assert store.read("t").strikes == 0
    assert client.keys() == []
    error_id = record(store)
    for number in range(1, 5):
        end(store, number)
        assert store.read("t").strikes == number
    end(store, 5, success=True)
    task = store.read("t")
    assert (task.strikes, task.stats.unresolved, task.stats.total) == (0, 0, 1)
    assert task.errors[0].id == error_id
    for number in range(50):
        end(store, 6 + number)
    # The log of ends does not grow.
    assert store.read("t").strikes == 20


def test_of_one_task_the_newest_are_kept_and_all_are_counted(store_of, client):
    """An error that is not kept any more is an unknown id."""
    store = store_of(max_per_task=5, max_per_project=100)
    ids = [record(store, kind=ERROR_TYPES[n % 2], message=str(n)) for n in range(12)]
    task = store.read("t")
    assert [error.message for error in task.errors] == ["7", "8", "9", "10", "11"]
    assert task.stats == ErrorStats(12, 5, {"validation": 6, "timeout": 6})
    store.resolve(ids[7])
    with pytest.raises(UnknownId):
        store.resolve(ids[6])
    fields = client.hkeys(KEYS.task_in_flight(task_digest("t"), "p"))
    assert len([name for name in fields if name.startswith((b"e:", b"i:", b"r:"))]) == 11


def test_a_project_is_bounded_and_forgets_the_silent_tasks_first(store_of, client):
    """However many tasks there are, and whether they have errors or strikes only."""
    store, other = store_of(max_per_task=5, max_per_project=40), store_of("other")
    record(other, "quiet")
    record(store, "old")
    for number in range(100):
        record(store, f"t{number}")
        end(store, number, task_id=f"s{number}")
        record(store, "busy")
    assert store.read("old").stats.total == 0
    assert store.read("busy").stats.total == 100
    assert store.read("t99").stats.total == store.read("s99").strikes == 1
    assert other.read("quiet").stats.total == 1
    sizes = client.hgetall(KEYS.task_sizes("p"))
    total = int(sizes.pop(b"total"))
    assert total == sum(map(int, sizes.values())) <= 40
    kept = {key.split(b":")[3] for key in client.keys("trackrecord:in-flight:task:*:p")}
    assert kept == set(sizes) == set(client.zrange(KEYS.tasks_in_flight("p"), 0, -1))


def test_errors_leave_after_the_retention_time(store_of, client):
    """The task that is silent, with all that belongs to it; news prolongs a task's stay."""
    store = store_of(retention_s=3)
    error_id = record(store, "silent")
    silent_since, count = time.monotonic(), 0
    while time.monotonic() < silent_since + 3.5:
        time.sleep(0.2)
        record(store, "lively", message=str(count))
        count += 1
    assert store.read("silent").errors == ()
    assert store.read("lively").stats.total == count
    with pytest.raises(UnknownId):
        store.resolve(error_id)
    assert client.zcard(KEYS.tasks_in_flight("p")) == 1
    assert client.hlen(KEYS.task_sizes("p")) == 2
    deadline = time.monotonic() + 100
    while client.keys():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_texts_are_cut_and_never_cost_the_error(store_of):
    """What is too long ends in an ellipsis; what is no text becomes some."""
    store = store_of()
    record(store, message="m" * 100_000, stack_trace="s" * 100_000, context="c" * 100_000,
           tool_name="n" * 100_000)  # fmt: skip
    record(store, message="\ud800\0")
    long, odd = store.read("t").errors
    assert [len(each) for each in (long.message, long.stack_trace, long.context)] == [
        1000, 4000, 1000,
    ]  # fmt: skip
    assert len(long.tool_name) == 256
    assert long.message.endswith("…")
    assert odd.message == "?\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("task_id", "kind", "more"),
    [("", "timeout", {}), ("x" * 257, "timeout", {}), ("\0", "timeout", {}), (7, "timeout", {}),
     ("\ud800", "timeout", {}), ("t", "nonsense", {}), ("t", "timeout", {"at": float("nan")}),
     ("t", "timeout", {"at": -1}), ("t", "timeout", {"at": 1e18})],
)  # fmt: skip
def test_what_is_no_report_is_refused(task_id, kind, more):
    """Before it comes near Redis."""
    with pytest.raises(InvalidErrorReport):
        error_report(task_id, kind, "m", **more)


@given(
    project=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=128),
    task_id=st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=256
    ),
    texts=st.lists(st.text(), min_size=4, max_size=4),
)
def test_any_names_and_texts_survive(store_of, project, task_id, texts):
    """What is read is what was written, in the task and the project where it was written."""
    store = store_of(project)
    message, stack, tool, context = texts
    error_id = record(
        store, task_id, message=message, stack_trace=stack, tool_name=tool, context=context
    )
    assert digest_in(error_id) == task_digest(task_id)
    newest = store.read(task_id).errors[-1]
    assert newest.id == error_id
    told = (newest.message, newest.stack_trace, newest.tool_name, newest.context)
    expected = [t.encode("utf-8", "replace").decode().replace("\0", "\ufffd") for t in texts]
    assert list(told) == expected
    store.resolve(error_id)
    assert store.read(task_id).errors[-1].resolved


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["e", "F", "S", "r"])), max_size=40))
def test_the_bounds_hold_whatever_happens(store_of, client, steps):
    """The index says exactly what is there, and no more is there than may be."""
    client.flushall()
    store = store_of(max_per_task=3, max_per_project=8)
    ids = []
    for number, (task, what) in enumerate(steps):
        if what == "e":
            ids.append(record(store, f"t{task}"))
        elif what == "r" and ids:
            try:
                store.resolve(ids[task % len(ids)])
            except UnknownId:
                assert len(ids) > 3
        elif what != "r":
            end(store, number, success=what == "S", task_id=f"t{task}")
    sizes = client.hgetall(KEYS.task_sizes("p"))
    assert int(sizes.pop(b"total", 0)) == sum(map(int, sizes.values())) <= 8
    tasks = client.keys("trackrecord:in-flight:task:*")
    assert len(tasks) == len(sizes) == client.zcard(KEYS.tasks_in_flight("p"))
    for key in tasks:
        kept = sum(name.startswith(b"e:") for name in client.hkeys(key))
        assert int(sizes[key.split(b":")[3]]) == kept + 1 <= 4


def _record_many(path, name, count):
    with redis.Redis(unix_socket_path=path) as client:
        store = InFlightStore(client, KEYS, "p", ErrorRules())
        for number in range(count):
            record(store, "t", message=f"{name} {number}")


@pytest.mark.faults
def test_many_processes_record_at_once(home, redis_server, store_of):
    """None is lost, every id is another one, and each process's errors are in its order."""
    arguments = [(str(home / "redis.sock"), f"process-{n}", 100) for n in range(8)]
    with multiprocessing.get_context("fork").Pool(8) as pool:
        pool.starmap_async(_record_many, arguments, chunksize=1).get(200)
    errors = store_of().read("t").errors
    assert len({error.id for error in errors}) == len(errors) == 800
    told = Counter(error.message.split()[0] for error in errors)
    assert told == {f"process-{n}": 100 for n in range(8)}
    for name in told:
        numbers = [int(e.message.split()[1]) for e in errors if e.message.startswith(name + " ")]
        assert numbers == list(range(100))


def test_redis_away_is_said_in_one_line(home):
    """For reading, writing and resolving alike."""
    client = redis.Redis(unix_socket_path=str(home / "nowhere.sock"), retry=Retry(NoBackoff(), 0))
    store = InFlightStore(client, KEYS, "p", ErrorRules())
    for ask in (lambda: store.read("t"), lambda: record(store), lambda: store.resolve("0" * 52)):
        with pytest.raises(ServerUnavailable, match="Redis cannot be reached") as caught:
            ask()
        assert len(str(caught.value).splitlines()) == 1


def test_a_full_redis_refuses(store_of, client):
    """That is another matter than Redis being away, whatever words this version of Redis uses."""
    client.config_set("maxmemory", 1)
    with pytest.raises(RefusedByRedis, match=r"^Redis refuses the errors of tasks: \S"):
        record(store_of())
    client.config_set("maxmemory", 0)
    record(store_of())
