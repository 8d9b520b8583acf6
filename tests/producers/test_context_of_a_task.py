"""context(task_id=…) knows what went wrong at the task before, and what was stored for it."""

import json
import time

from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.reading.cache import write_document

ASK = """
    import json, time, trackrecord
    def told(**more):
        found = trackrecord.context(task_id="t", budget=900, **more)
        return {
            "taken": [each.id.partition(":")[0] for each in found.taken],
            "prompt": found.prompt,
            "problem": found.problem,
            "is_stale": found.is_stale,
        }
"""


def test_errors_and_outputs_of_the_task_are_in_its_prompt(agent, client):
    """Of this task and project alone, with what this process has recorded a moment ago."""
    done = agent(
        ASK
        + """
    import asyncio
    log = "12:00 INFO step\\n" * 900 + "12:01 ERROR no disk\\n"
    trackrecord.record_error("t", "timeout", "no answer after 30 s", tool_name="fetch")
    trackrecord.record_error("u", "timeout", "of another task")
    trackrecord.record_error("t", "timeout", "of another project", project="q")
    trackrecord.summarise(log, task_id="t", tool="pytest")
    trackrecord.summarise(log + "x", task_id="u", tool="of another task")
    trackrecord.summarise(log + "y", task_id="t", tool="of another project", project="q")
    first = told()
    awaited = asyncio.run(trackrecord.acontext(task_id="t", budget=900))
    print(json.dumps([first, awaited.prompt == first["prompt"], told(exclude=["errors"]),
                      told(exclude=["evidence"]), told(exclude=["errors", "evidence"])]))
    """
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, is_same, without_errors, without_evidence, without = json.loads(done.stdout)
    assert first["taken"] == ["error", "artifact"]
    assert "- timeout: no answer after 30 s (Tool: fetch)" in first["prompt"]
    assert "Output of pytest:\n[output kept as artifact " in first["prompt"]
    assert "first error, line 901: 12:01 ERROR no disk" in first["prompt"]
    assert "another" not in first["prompt"]
    assert is_same
    assert without_errors["taken"] == ["artifact"]
    assert without_evidence["taken"] == ["error"]
    assert (without["taken"], without["prompt"]) == ([], "")
    assert first["problem"] == "nothing is learnt yet"


def test_while_redis_is_away_the_prompt_is_written_all_the_same(agent, closed_port):
    """The agent's own candidates and the stored outputs; the problem is said once."""
    done = agent(
        ASK
        + """
    trackrecord.summarise("x" * 20_000, task_id="t", tool="cat")
    own = [{"id": "now", "kind": "task", "text": "Fix it"}]
    print(json.dumps(told(candidates=own)))
    """,
        TRACKRECORD_REDIS_URL=f"redis://127.0.0.1:{closed_port}/0",
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["taken"] == ["artifact", "now"]
    assert found["problem"] == "redis is unavailable (ConnectionError)"


def test_outputs_that_cannot_be_read_are_a_problem_and_no_exception(agent, client, settings):
    """What else there is stands in the prompt, and the rankings are none the older for it."""
    rankings = RankingsDocument(project="default", revision=1, computed_at=time.time())
    write_document(client, settings, rankings)
    done = agent(
        ASK
        + """
    trackrecord.record_error("t", "timeout", "no answer")
    trackrecord.summarise("x" * 20_000, task_id="t", tool="cat")
    import os, pathlib
    (project,) = pathlib.Path(os.environ["TRACKRECORD_HOME"], "artifacts").iterdir()
    (project / ".notes").rename(project / ".moved")
    (project / ".notes").symlink_to(project / ".moved")
    print(json.dumps(told()))
    """
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["taken"] == ["error"]
    assert "the task's stored outputs cannot be read" in found["problem"]
    assert found["is_stale"] is False
