"""trackrecord.testing: what users test their agents with."""

import asyncio

import pytest

import trackrecord
from trackrecord.errors import InvalidOutcome, StoreUnavailable, UnknownId, UnknownProject
from trackrecord.testing import captured, rankings_of, store_of


def test_all_that_an_agent_reports_is_captured():
    """Outcomes as the worker reads them, memories, errors; nothing was dropped."""
    with captured() as published:
        outcome_id = trackrecord.publish(task_id="t", success=True, metadata={"own": [1]})
        memory_id = trackrecord.remember("The login test needs port 5432", source="a")
        error_id = trackrecord.record_error("u", None, ValueError("why"), project="p")
        assert trackrecord.flush()
        assert trackrecord.stats().published == trackrecord.stats().sent == 2
    (outcome,) = published.outcomes
    assert (outcome.task_id, outcome.success, outcome.outcome_id) == ("t", True, outcome_id)
    assert published.bodies[0]["metadata"] == {"own": [1]}
    (memory,) = published.memories
    assert (memory.text, memory.memory_id) == ("The login test needs port 5432", memory_id)
    (error,) = published.errors
    assert (error.id, error.type, error.message) == (error_id, "validation", "ValueError: why")
    assert published.dropped == published.remarks == []


def test_what_would_be_lost_is_told_with_its_reason():
    """By the checks that are made on the way to Redis; remarks stand apart, each once."""
    with captured() as published:
        assert trackrecord.publish(task_id="t", success="yes") is None
        assert trackrecord.remember("") is None
        assert trackrecord.remember("x" * 2001) is None
        assert trackrecord.record_error("", None, "m") is None
        for _ in range(2):
            assert trackrecord.publish(task_id="t", success=True, strategey="x")
        assert trackrecord.dropped() == {"invalid": 3}
        assert trackrecord.dropped_errors() == {"invalid": 1}
    assert len(published.dropped) == 4
    assert "$.success" in published.dropped[0]
    assert published.remarks == ["an outcome has no field 'strategey': did you mean 'strategy'?"]


def test_errors_of_tasks_are_answered_from_what_was_captured():
    """Context, counts, strikes; resolved by hand and by a success; another project's apart."""
    with captured():
        for _ in range(3):
            with trackrecord.attempt("t") as attempt:
                attempt.error("no answer", type="timeout")
                attempt.fail("wrong_answer")
        text = trackrecord.error_context("t")
        assert "- **no answer** (3 times)" in text
        assert "Three Strikes" in text
        assert trackrecord.error_stats("t").by_type == {"timeout": 3}
        assert trackrecord.error_context("t", project="another") == ""
        error_id = trackrecord.record_error("t", "conflict", "m")
        trackrecord.resolve_error(error_id)
        assert trackrecord.error_stats("t").unresolved == 3
        with pytest.raises(UnknownId):
            trackrecord.resolve_error(error_id, project="another")
        with trackrecord.attempt("t"):
            pass
        assert trackrecord.error_context("t") == ""
        assert trackrecord.error_stats("t").unresolved == 0
    with captured():
        assert trackrecord.error_stats("t").total == 0


def test_blocks_nest_and_the_innermost_captures():
    """And each begins with no task that has failed before."""
    with captured() as outer:
        with trackrecord.attempt("t") as attempt:
            attempt.fail("wrong_answer")
        with captured() as inner, trackrecord.attempt("t"):
            pass
        trackrecord.publish(task_id="after", success=True)
    assert [outcome.task_id for outcome in outer.outcomes] == ["t", "after"]
    assert [outcome.retry_count for outcome in inner.outcomes] == [0]


def test_tasks_of_an_event_loop_have_their_own():
    """Even though their blocks overlap, and end in another order than they began."""

    async def work(name, until):
        with captured() as published:
            trackrecord.publish(task_id=name, success=True)
            await until
            trackrecord.publish(task_id=name, success=False)
        return [outcome.task_id for outcome in published.outcomes]

    async def main():
        first, second = asyncio.Event(), asyncio.Event()
        tasks = [
            asyncio.create_task(work("a", first.wait())),
            asyncio.create_task(work("b", second.wait())),
        ]
        await asyncio.sleep(0)
        first.set()
        await tasks[0]
        second.set()
        return [await task for task in tasks]

    assert asyncio.run(main()) == [["a", "a"], ["b", "b"]]


def test_neither_thread_nor_server_nor_home_is_needed(agent):
    """And the process's own reporting is as it was."""
    program = """
        import os, sys, threading, trackrecord
        from trackrecord.testing import captured
        with captured() as published:
            with trackrecord.attempt("t") as attempt:
                attempt.tool("grep", ok=False)
                attempt.error_context()
            trackrecord.remember("a fact")
            trackrecord.spool(task_id="u", success=True)
        assert len(published.outcomes) == 2
        assert threading.active_count() == 1
        assert not os.listdir(os.environ["TRACKRECORD_HOME"])
        assert trackrecord.stats().published == 0
        """
    done = agent(program, TRACKRECORD_REDIS_URL="nonsense")
    assert (done.returncode, done.stderr) == (0, "")


def test_rankings_answer_from_what_a_test_gives(monkeypatch):
    """Text, objects, budget and fitting as ever; settings of the environment play no part."""
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", "nonsense")
    with rankings_of(
        patterns=["tests-first"],
        anti_patterns=["big-bang"],
        competences=["read the login log"],
        memories=["The login test needs port 5432", "Use uv"],
    ):
        known = trackrecord.rankings(task="login test")
        assert [each.id for each in known.patterns] == ["tests-first"]
        assert [each.text for each in known.told["memories"]] == ["The login test needs port 5432"]
        for line in ("- tests-first", "- AVOID: big-bang", "read the login log"):
            assert line in known.prompt
        assert (known.problem, known.is_stale) == (None, False)
        assert trackrecord.rankings(budget=1).prompt == ""
        assert [each.text for each in trackrecord.rankings(limit=1).memories] == [
            "The login test needs port 5432"
        ]
        own = {"id": "t", "kind": "task", "text": "Fix it"}
        context = trackrecord.context(task="login test", candidates=[own])
        assert "Fix it" in context.prompt
        assert "port 5432" in context.prompt
        assert context.problem is None


def test_memories_handed_out_are_captured():
    """Each time, so that no test depends on another; nothing is sent where nobody captures."""
    published = trackrecord.stats().published
    with rankings_of(memories=["Use uv"], project="shop"):
        trackrecord.rankings(project="shop")
        with captured() as reports:
            for _ in range(2):
                (name,) = trackrecord.rankings(project="shop").memory_ids
            assert trackrecord.context("shop", task="use uv", task_id="t").memory_ids == (name,)
        assert [(each.project, each.memories) for each in reports.recalls] == [
            ("shop", (name,))
        ] * 2
        assert [each.entries for each in reports.exposures] == [(f"memory:{name}",)]
        assert trackrecord.stats().published == published


def test_a_test_gives_the_calls_a_store():
    """A real one: what one call changes, another one finds; gone at the end of the block."""
    outcomes = [
        {"task_id": "t-1", "success": True, "strategy": "file-based", "instruction": "Fix login"},
        {"task_id": "t-2", "success": False, "patterns": ["big bang"]},
    ]
    with store_of(memories=["The login test needs port 5432"], outcomes=outcomes):
        (found,) = trackrecord.recall("login")
        assert (found.id, found.text) == ("memory-1", "The login test needs port 5432")
        trackrecord.confirm_memory("memory-1")
        (memory,) = trackrecord.list_memories()
        assert memory.confidence == 0.6
        assert trackrecord.promote_pattern("file-based", by="a test").after == "proven"
        assert {each.id for each in trackrecord.list_patterns()} == {"file-based", "big-bang"}
        assert [each.task_id for each in trackrecord.similar_tasks("login")] == ["t-1"]
        assert asyncio.run(many()) == [1] * 20
        with store_of(project="shop"):
            assert trackrecord.recall("login") == []
            with pytest.raises(UnknownProject):
                trackrecord.recall("login", project="default")
        with captured() as published:
            trackrecord.publish(task_id="t", success=True)
            assert len(trackrecord.recall("login")) == 1
        assert len(published.outcomes) == 1
    with store_of():
        assert trackrecord.list_runs() == []


async def many():
    found = await asyncio.gather(*(trackrecord.arecall("login") for _ in range(20)))
    return [len(each) for each in found]


def test_a_test_that_gives_no_store_reaches_none():
    """Not that of the person who runs it; one line says how to give one."""
    with (
        captured(),
        pytest.raises(StoreUnavailable, match=r"open trackrecord.testing.store_of\(\)"),
    ):
        trackrecord.forget_memory("memory-1")


def test_an_outcome_that_is_none_is_refused_by_the_store():
    """At once, with its reason."""
    with pytest.raises(InvalidOutcome, match="task_id"), store_of(outcomes=[{"success": True}]):
        pass
