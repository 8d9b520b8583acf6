"""attempt: observes what it surrounds, publishes once, and changes nothing."""

import asyncio
import contextlib
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from trackrecord.testing import captured
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_producers.attempts.attempt import attempt, current_attempt


@pytest.fixture
def published():
    """The bodies of what attempts publish."""
    with captured() as taken:
        yield taken.bodies


def test_a_with_block_is_timed_and_succeeds_when_nothing_is_raised(published):
    """The duration is that of the block, the outcome a success."""
    with attempt("t", strategy="file-based") as ours:
        assert current_attempt() is ours
    assert current_attempt() is None
    (outcome,) = published
    duration_ms = outcome.pop("duration_ms")
    assert outcome.pop("outcome_id")
    assert outcome.pop("timestamp")
    assert 0 <= duration_ms < 100_000
    assert outcome == {
        "task_id": "t",
        "success": True,
        "strategy": "file-based",
        "error_count": 0,
        "retry_count": 0,
    }


def test_what_is_told_to_it_is_in_the_outcome(published):
    """Tools, errors, results and other fields travel as they were told."""
    args = {"path": "a.py"}
    with attempt("t") as ours:
        ours.tool("read", args=args, duration_ms=12)
        args["path"] = "changed later"
        ours.tool("edit", ok=False, error="no such file")
        ours.tool("edit", error=ValueError("bad"))
        ours.retry()
        ours.error("something")
        ours.note(competence_id="c1", memory_ids=["m1"])
    (outcome,) = published
    calls = decode_outcome(encode_body(outcome)).tool_graph
    assert [(call.tool, call.ok, call.duration_ms) for call in calls] == [
        ("read", True, 12),
        ("edit", False, None),
        ("edit", False, None),
    ]
    assert bytes(calls[0].args) == b'{"path":"a.py"}'
    assert bytes(calls[1].error) == b'"no such file"'
    assert (outcome["error_count"], outcome["retry_count"]) == (3, 1)
    assert (outcome["competence_id"], outcome["memory_ids"]) == ("c1", ["m1"])
    assert outcome["success"]


@pytest.mark.parametrize(
    ("error", "mode"),
    [
        (ValueError("why"), "validation"),
        (KeyboardInterrupt("why"), "cancelled"),
        (asyncio.CancelledError("why"), "cancelled"),
    ],
)
def test_what_is_raised_goes_on_and_is_recorded(published, error, mode):
    """The exception reaches the caller; the outcome is a failure of its kind."""
    with pytest.raises(type(error)) as caught, attempt("t"):
        raise error
    assert caught.value is error
    (outcome,) = published
    assert outcome["success"] is False
    assert outcome["failure_mode"] == mode
    assert outcome["failure_details"] == f"{type(error).__name__}: why"
    assert outcome["error_count"] == 1


def test_a_failure_that_is_told_is_one_though_nothing_is_raised(published):
    """`fail` decides, whatever the block does afterwards; its reason is kept."""
    for raised in ((), (ValueError("another"),)):
        with contextlib.suppress(ValueError), attempt("t") as ours:
            ours.fail("wrong_answer", "42 was expected")
            for error in raised:
                raise error
    assert [(each["success"], each["error_count"]) for each in published] == [
        (False, 0),
        (False, 1),
    ]
    for outcome in published:
        assert outcome["failure_mode"] == "wrong_answer"
        assert outcome["failure_details"] == "42 was expected"


TOLD = {"nothing": {}, "None": {"success": None}, "True": {"success": 1}, "False": {"success": 0}}


@pytest.mark.parametrize("ending", ["returns", "raises", "fail", "exit 0", "exit 3"])
@pytest.mark.parametrize("given", TOLD)
@pytest.mark.parametrize("noted", TOLD)
def test_success_that_is_told(given, noted, ending):
    """It wins over a body that ended without an exception, what is noted over what was given.

    An exception and `fail` are failures whatever is told, and a contradiction is said.
    """
    with captured() as taken:
        with contextlib.suppress(ValueError, SystemExit), attempt("t", **TOLD[given]) as ours:
            if noted != "nothing":
                ours.note(outcome_source="tests", **TOLD[noted])
            if ending == "fail":
                ours.fail("wrong_answer")
            if ending == "raises":
                raise ValueError
            if ending.startswith("exit"):
                raise SystemExit(int(ending[-1]))
        (outcome,) = taken.outcomes
        told = noted if noted != "nothing" else given
        has_failed = ending not in ("returns", "exit 0")
        assert outcome.success is (not has_failed and told != "False")
        assert [each for each in taken.remarks if "success=True" in each] == (
            [taken.remarks[0]] if has_failed and told == "True" else []
        )
        # A strike, and a retry next time, like any other failure.
        assert taken.task(None, "t").strikes == (not outcome.success)
        with attempt("t"):
            pass
        assert taken.outcomes[1].retry_count == (not outcome.success)


@pytest.mark.parametrize(("task", "noted"), [("t", {"success": "failed"}), (7.5, {})])
def test_what_is_neither_true_nor_false_nor_a_text_is_not_learnt(task, noted):
    """A guess would teach the wrong thing: the outcome is dropped, with the reason."""
    with captured() as taken, attempt(task) as ours:
        ours.note(**noted)
    assert taken.outcomes == []
    assert next(iter(noted), "task_id") in taken.dropped[0]
    assert taken.task(None, "t").strikes == 0


def test_the_task_of_an_attempt_cannot_be_noted():
    """It was counted and recorded under its own name from the start."""
    with captured() as taken, attempt("t") as ours:
        ours.note(task_id="another")
    assert taken.outcomes[0].task_id == "t"
    assert "task_id cannot be changed" in taken.remarks[0]


class Hostile(Exception):
    def __str__(self):
        raise RuntimeError

    def __bool__(self):
        raise RuntimeError


def test_nothing_that_is_told_to_it_raises_or_costs_the_outcome(published):
    """Whatever objects the agent hands over."""
    with contextlib.suppress(Hostile), attempt("t") as ours:
        ours.tool(Hostile(), args=Hostile(), error=Hostile())
        ours.tool("\ud800\0", args={"x": "\ud800"}, error="\ud800\0")
        ours.error(Hostile())
        ours.fail(Hostile(), Hostile())
        raise Hostile
    assert [call["tool"] for call in published[0]["tool_graph"]] == [
        "Hostile",
        "?\N{REPLACEMENT CHARACTER}",
    ]


def test_an_outcome_stays_small_however_much_is_told(published):
    """What is too much is left out, and the outcome still arrives."""
    with contextlib.suppress(ValueError), attempt("t") as ours:
        for _ in range(1100):
            ours.tool("t" * 300, args={"x": "y" * 10_000}, error="e" * 10_000)
        raise ValueError("x" * 10_000_000)
    (outcome,) = published
    assert len(encode_body(outcome)) < 1024 * 1024
    assert len(outcome["tool_graph"]) == 1000
    assert outcome["error_count"] == 1101


def test_attempts_nest_and_each_is_current_in_its_own_block(published):
    """The outer one is current again when the inner one has ended."""
    with attempt("outer") as outer:
        with attempt("inner") as inner:
            assert current_attempt() is inner
        assert current_attempt() is outer
    assert [outcome["task_id"] for outcome in published] == ["inner", "outer"]


def test_a_with_block_without_a_task_gets_a_name_that_is_used_once(published):
    """Attempts without a task are never taken for retries."""
    for _ in range(2):
        with attempt():
            pass
    assert len({outcome["task_id"] for outcome in published}) == 2


def test_a_decorated_function_is_what_it_was(published):
    """Name, signature, result and exceptions stay the same."""

    @attempt("t")
    def add(a: int, b: int = 2) -> int:
        """Adds."""
        current_attempt().tool("adder")
        return a + b

    assert add(1) == 3
    assert add(1, b=3) == 4
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    assert list(inspect.signature(add).parameters) == ["a", "b"]
    assert [outcome["success"] for outcome in published] == [True, True]
    assert [len(outcome["tool_graph"]) for outcome in published] == [1, 1]


def test_a_decorator_without_a_task_names_it_after_the_function(published):
    """With the module in front."""

    @attempt()
    def work():
        return None

    work()
    work()
    name = f"{__name__}.{work.__qualname__}"
    assert [outcome["task_id"] for outcome in published] == [name, name]


def test_threads_and_tasks_have_attempts_of_their_own(published):
    """The current attempt is that of the thread or of the asynchronous task."""

    @attempt("sync")
    def work(n, barrier):
        barrier.wait(200)
        for _ in range(n):
            current_attempt().retry()

    barrier = threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: work(n, barrier), range(4)))
    assert sorted(outcome["retry_count"] for outcome in published) == [0, 1, 2, 3]
    published.clear()

    @attempt("async")
    async def awork(n):
        for _ in range(n):
            await asyncio.sleep(0)
            current_attempt().retry()

    async def main():
        await asyncio.gather(*(awork(n) for n in range(4)))

    asyncio.run(main())
    assert sorted(outcome["retry_count"] for outcome in published) == [0, 1, 2, 3]


def test_other_names_of_a_tools_arguments_are_understood_and_unknown_ones_logged():
    """As in `tool_graph`: the agent does not fail because its report has a wrong name."""
    with captured() as taken, attempt("t") as ours:
        ours.tool("refund", arguments={"order": "W1"}, success=False, eror="not loaded")
    (call,) = taken.bodies[0]["tool_graph"]
    assert (call["args"], call["ok"]) == ({"order": "W1"}, False)
    assert "did you mean 'error'" in taken.remarks[-1]
