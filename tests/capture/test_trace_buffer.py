"""Traces are buffered until they are whole, survive a sudden end, and are bounded."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.capture.telling import TRACE, agent_span, call_span, log, span
from trackrecord.errors import InvalidOutcome, ServerUnavailable
from trackrecord.settings.daemon_settings import TraceRules
from trackrecord_capture.otlp.encodings.receiver import Full
from trackrecord_capture.otlp.traces.opening import TraceBuffer
from trackrecord_capture.otlp.traces.trace_status import read_status
from trackrecord_capture.outcome import outcome_of

RULES = TraceRules(settle_s=3, idle_s=60, keep_s=600)


class Outcomes:
    """A sink that keeps outcomes, and can be away."""

    def __init__(self):
        self.published = []
        self.is_away = False
        self.refusals = []

    def publish(self, fields):
        if self.refusals:
            raise self.refusals.pop()
        self.published.append(fields)

    def settle(self):
        if self.is_away:
            message = "away"
            raise ServerUnavailable(message)
        return 0


class Story:
    """A buffer with a clock that tests set."""

    def __init__(self, path, rules=RULES):
        self.path = path / "traces.db"
        self.rules = rules
        self.now = 1_795_000_000.0
        self.outcomes = Outcomes()
        self.buffer = self._open()

    def _open(self):
        return TraceBuffer(
            self.path, outcome_of, self.outcomes, rules=self.rules, clock=lambda: self.now
        )

    def again(self):
        """Open the same file again, as after a restart."""
        self.buffer.close()
        self.buffer = self._open()

    def after(self, seconds):
        """Let time go by and publish what is due; return what was published then."""
        self.now += seconds
        before = len(self.outcomes.published)
        self.buffer.publish_due()
        return self.outcomes.published[before:]

    def counts(self):
        return read_status(self.path).counts


@pytest.fixture
def story(tmp_path):
    made = Story(tmp_path)
    yield made
    made.buffer.close()


def call_of(root, number, **options):
    return call_span(root, f"tool_{number}", at=number, **options)


def tools(outcome):
    return [call["tool"] for call in outcome.get("tool_graph", [])]


def test_children_come_before_their_root_and_nothing_is_published_until_it_ended(story):
    """A trace waits for its root, and then a short while for what else may come."""
    root = agent_span()
    story.buffer.spans([call_of(root, 1)])
    assert story.after(10) == []
    story.buffer.spans([root])
    assert story.after(1) == []
    (outcome,) = story.after(3)
    assert tools(outcome) == ["tool_1"]
    assert story.after(30) == []


def test_a_trace_whose_root_never_comes_is_published_when_it_was_silent_for_long(story):
    """What goes on is waited for; what was lost is not waited for without end."""
    story.buffer.spans([span("step", {"openinference.span.kind": "CHAIN"}, under="0" * 15 + "9")])
    story.buffer.spans([call_of(agent_span(), 1)])
    agent = agent_span(under="0" * 15 + "8", trace="1" * 32)
    story.buffer.spans([agent, call_of(agent, 2, trace="1" * 32)])
    assert story.after(59) == []
    assert [tools(outcome) for outcome in story.after(2)] == [["tool_2"]]


def test_late_spans_publish_the_same_outcome_again_with_more(story):
    """Nothing that came before is missing from it."""
    root = agent_span()
    story.buffer.spans([call_of(root, 1), root])
    (first,) = story.after(4)
    story.buffer.spans([call_of(root, 2)])
    (second,) = story.after(4)
    assert first["outcome_id"] == second["outcome_id"]
    assert tools(second) == ["tool_1", "tool_2"]


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(6)), doubled=st.sets(st.integers(0, 5)), cut=st.integers(0, 6))
def test_order_batches_and_doubled_spans_make_no_difference(order, doubled, cut, tmp_path_factory):
    """The last outcome is the same, whichever way the spans came."""
    told = Story(tmp_path_factory.mktemp("story"))
    spans = _SPANS
    sequence = [spans[place] for place in order] + [spans[place] for place in doubled]
    for batch in (sequence[:cut], sequence[cut:]):
        told.buffer.spans(batch)
        told.again()
    outcome = told.after(100)[-1]
    told.buffer.close()
    assert tools(outcome) == [f"tool_{number}" for number in range(5)]


_ROOT = agent_span()
_SPANS = [_ROOT, *(call_of(_ROOT, number) for number in range(5))]


_DYING = """
import os, sys, signal
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from tests.capture.telling import span
from tests.capture.test_trace_buffer import Story, agent_span, call_of
story = Story(Path(sys.argv[1]))
root = agent_span()
story.buffer.spans([call_of(root, 1)])
story.buffer.spans([root])
print("taken", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.faults
def test_what_was_taken_survives_a_kill(tmp_path):
    """What `spans` returned for is published by the next process."""
    here = str(Path(__file__).parents[2])
    dying = subprocess.run(
        [sys.executable, "-c", _DYING, str(tmp_path), here], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (dying.stdout, dying.returncode) == ("taken\n", -signal.SIGKILL), dying.stderr
    story = Story(tmp_path)
    (outcome,) = story.after(100)
    story.buffer.close()
    assert tools(outcome) == ["tool_1"]


def test_outcomes_that_are_not_safe_yet_are_published_again(story):
    """Until the sink confirms, a trace counts as not published, also after a restart."""
    root = agent_span()
    story.buffer.spans([call_of(root, 1), root])
    story.outcomes.is_away = True
    assert len(story.after(4)) == 1
    story.again()
    story.outcomes.is_away = False
    assert len(story.after(1)) == 1
    assert story.after(1) == []


def test_a_sink_that_is_away_for_a_moment_loses_no_run(story):
    """Neither the run at which it was away nor the others that are due; a score finds each."""
    traces = ["1" * 32, "2" * 32]
    for trace in traces:
        root = agent_span(trace=trace)
        story.buffer.spans([call_of(root, 1, trace=trace), root])
    story.outcomes.refusals = [ServerUnavailable("away")]
    assert story.after(4) == []
    published = story.after(1)
    assert len(published) == 2
    assert story.counts() == {}
    story.outcomes.refusals = [ServerUnavailable("away")]
    story.after(7200)
    story.buffer.logs([score("fail", trace=trace) for trace in traces])
    assert story.after(1) == []
    amended = story.after(1)
    assert {one["outcome_id"] for one in amended} == {one["outcome_id"] for one in published}


def test_a_run_that_is_no_valid_outcome_costs_no_other_one(story):
    """It is counted; its neighbours are published, and later scores find them."""
    story.outcomes.refusals = [InvalidOutcome("odd")]
    for number in (1, 2):
        root = agent_span(trace=str(number) * 32)
        story.buffer.spans([call_of(root, number, trace=str(number) * 32), root])
    assert len(story.after(4)) == 1
    assert story.counts()["runs that were no valid outcome"] == 1


def test_a_trace_that_is_too_large_is_cut_and_the_rest_counted(tmp_path):
    """What goes beyond the bound is rejected; what was taken is published."""
    story = Story(tmp_path, TraceRules(max_trace_bytes=4096))
    root = agent_span()
    rejected = story.buffer.spans([root, *(call_of(root, number) for number in range(100))])
    assert 50 < rejected < 100
    (outcome,) = story.after(4)
    assert len(tools(outcome)) == 100 - rejected
    assert story.counts() == {"spans of a trace that is too large": rejected}
    story.buffer.close()


def test_beyond_the_number_of_traces_the_oldest_are_published_as_they_are(tmp_path):
    """Memory is bounded; nothing is dropped for it, and it is counted."""
    story = Story(tmp_path, TraceRules(max_traces=10))
    for number in range(25):
        story.now += 0.001
        root = agent_span(trace=f"{number + 1:032x}", under="ff000000000000aa")
        story.buffer.spans([root, call_of(root, number, trace=root.trace_id)])
    story.after(0)
    published = {tools(outcome)[0] for outcome in story.outcomes.published}
    assert published == {f"tool_{number}" for number in range(15)}
    assert story.counts() == {"traces published before they were whole": 15}
    story.buffer.close()


def test_a_full_disk_asks_to_come_again_and_forgets_what_is_only_kept_for_late_spans(tmp_path):
    """Nothing that was taken is lost; room comes back with what is published."""
    story = Story(tmp_path, TraceRules(max_bytes=2 * 1024 * 1024))
    taken = 0
    refused = 0
    for number in range(400):
        root = agent_span(trace=f"{number + 1:032x}")
        told = {"gen_ai.tool.call.result": "x" * 20_000}
        call = call_of(root, number, trace=root.trace_id)
        call.attributes.update(told)
        try:
            story.buffer.spans([root, call])
            taken += 1
        except Full:
            refused += 1
            story.after(4)
    story.after(4)
    assert refused > 3
    assert len({outcome["outcome_id"] for outcome in story.outcomes.published}) == taken
    assert story.path.stat().st_size < 4 * 1024 * 1024
    story.buffer.close()


def test_spans_without_an_agent_are_counted_and_forgotten(story):
    """A web server's own spans are none of our business."""
    story.buffer.spans([span("GET /", {"http.request.method": "GET"})])
    assert story.after(4) == []
    assert story.counts() == {"traces without a run of an agent": 1}
    assert read_status(story.path).kept == 0


def score(label, **told):
    attributes = {"gen_ai.evaluation.name": "correct", "gen_ai.evaluation.score.label": label}
    return log("gen_ai.evaluation.result", attributes | told.pop("attributes", {}), **told)


def test_a_score_that_came_first_waits_for_its_trace(story):
    """It is the verdict of the run's first outcome already."""
    story.buffer.logs([score("fail", trace=TRACE)])
    story.after(1)
    root = agent_span()
    story.buffer.spans([root, call_of(root, 1)])
    (outcome,) = story.after(4)
    assert (outcome["success"], outcome["outcome_source"]) == (False, "evaluator")


def test_a_score_while_the_trace_is_kept_publishes_it_again(story):
    """With its calls, and with the verdict."""
    root = agent_span()
    story.buffer.spans([root, call_of(root, 1)])
    (first,) = story.after(4)
    story.buffer.logs([score("pass", trace=TRACE, of_span=root.span_id)])
    (second,) = story.after(1)
    assert (first["success"], second["success"]) == (None, True)
    assert tools(second) == ["tool_1"]


def test_a_score_that_comes_hours_later_amends_the_outcome(story):
    """The spans are gone by then, and what they became is known, after a restart as well."""
    root = agent_span()
    story.buffer.spans([root, call_of(root, 1)])
    (first,) = story.after(4)
    story.after(7200)
    assert read_status(story.path).kept == 0
    story.again()
    story.buffer.logs([score("fail", trace=TRACE)])
    (amended,) = story.after(1)
    same = ("outcome_id", "project", "task_id")
    assert [amended[name] for name in same] == [first[name] for name in same]
    assert (amended["success"], amended["outcome_source"]) == (False, "evaluator")
    assert "tool_graph" not in amended
    assert story.after(1) == []


def test_a_score_of_a_call_is_no_verdict_on_the_run(story):
    """Neither at once nor later; later it is counted."""
    root = agent_span()
    call = call_of(root, 1)
    story.buffer.spans([root, call])
    story.buffer.logs([score("fail", trace=TRACE, of_span=call.span_id)])
    (outcome,) = story.after(4)
    assert outcome["success"] is None
    story.after(7200)
    story.buffer.logs([score("fail", trace=TRACE, of_span=call.span_id, at=1)])
    assert story.after(1) == []
    assert story.counts() == {"scores that are no verdict on a run": 1}


def test_a_score_of_a_session_is_the_verdict_on_its_only_run(story):
    """Of two runs nobody knows which one is praised."""
    told = {"attributes": {"session.id": "s-1"}}
    for number in (1, 2):
        root = agent_span(trace=f"{number:032x}")
        root.attributes["session.id"] = "s-1"
        story.buffer.spans([root, call_of(root, 1, trace=root.trace_id)])
        story.after(4)
        story.buffer.logs([score("pass", at=number, **told)])
        assert len(story.after(1)) == (1 if number == 1 else 0)


def test_the_next_prompt_of_a_session_can_say_that_the_run_before_was_wrong(story):
    """It amends that run, and no other one."""
    prompts = ("Mend the cart", "No, that is wrong, the total is still off", "Thanks, go on")
    for number, prompt in enumerate(prompts):
        root = agent_span(trace=f"{number + 1:032x}", at=100 * number)
        root.attributes.update({"session.id": "s-1", "gen_ai.input.messages": prompt})
        story.buffer.spans([root, call_of(root, 1, trace=root.trace_id)])
        story.after(4)
    first, second, amended, third = story.outcomes.published
    assert amended["outcome_id"] == first["outcome_id"]
    assert (amended["success"], amended["outcome_source"]) == (False, "explicit")
    assert [each["success"] for each in (first, second, third)] == [None, None, None]


def test_a_secret_in_a_score_does_not_reach_the_disk(story):
    """In an event."""
    secret = "ghp_" + "Zq9" * 12
    event = score("pass", trace=TRACE)
    event.attributes["gen_ai.evaluation.explanation"] = f"used {secret}"
    story.buffer.logs([event])
    kept = b"".join(path.read_bytes() for path in story.path.parent.glob("traces.db*"))
    assert b"used <secret>" in kept
    assert secret.encode() not in kept


def test_log_records_of_programs_are_counted_and_not_kept(story):
    """Only events that tell of an agent's run are taken."""
    story.buffer.logs([log("", body="GET / 200"), log("deployed")])
    assert story.counts() == {"log records that tell nothing of a run": 2}


def test_doctor_tells_what_waits_and_what_did_not_become_an_outcome(story):
    """By reason, from another process, while the file is open."""
    story.buffer.logs([log("deployed")])
    story.buffer.spans([agent_span(trace="1" * 32, under="ff000000000000aa")])
    doctor = [sys.executable, "-m", "trackrecord_cli", "doctor"]
    environment = os.environ | {"TRACKRECORD_HOME": str(story.path.parent)}
    printed = subprocess.run(doctor, env=environment, capture_output=True, text=True, check=False)
    assert "traces: 1 waiting for more spans" in printed.stdout
    assert "not an outcome: 1 log records that tell nothing of a run" in printed.stdout


def test_one_trace_that_cannot_be_read_does_not_hold_up_the_others(story):
    """It is counted, and the others are published."""
    for number in (1, 2):
        root = agent_span(trace=f"{number:032x}")
        story.buffer.spans([root, call_of(root, number, trace=root.trace_id)])
    story.buffer.close()
    with sqlite3.connect(story.path) as database:
        database.execute("UPDATE facts SET fact = x'00' WHERE trace = ?", (f"{1:032x}",))
    database.close()
    story.buffer = story._open()
    assert [tools(outcome) for outcome in story.after(4)] == [["tool_2"]]
    assert story.counts()["traces that could not be read"] == 1


def test_secrets_in_arguments_leave_the_buffer_redacted(story):
    """Neither the outcome nor the disk holds a secret that stood in a span."""
    root = agent_span()
    call = call_of(root, 1)
    token = "ghp_" + "a1B2" * 9
    call.attributes["gen_ai.tool.call.arguments"] = f'{{"command": "curl -H {token}"}}'
    root.attributes["gen_ai.input.messages"] = f"Use {token}"
    story.buffer.spans([root, call])
    waiting = [path.read_bytes() for path in story.path.parent.iterdir()]
    assert any(b"curl -H" in held for held in waiting)
    (outcome,) = story.after(4)
    assert token not in repr(outcome)
    assert "curl -H" in repr(outcome)
    for held in (*waiting, *(path.read_bytes() for path in story.path.parent.iterdir())):
        assert token.encode() not in held


def test_the_file_is_for_its_owner_alone(story):
    """Spans hold prompts."""
    story.buffer.spans([agent_span()])
    files = [story.path, *story.path.parent.glob("traces.db-*")]
    assert {oct(path.stat().st_mode & 0o077) for path in files} == {"0o0"}


def graph(trace, given, tool, at, session="thread-1"):
    """The spans of a graph that was called with some input and called one tool."""
    told = {"openinference.span.kind": "CHAIN", "input.value": given, "session.id": session}
    root = span("fixer", told, scope="graph", trace=trace, at=at, lasts=5)
    return [root, call_span(root, tool, at=at + 1, scope="graph", trace=trace)]


NO_INPUT = ["null", '{"graph": null, "update": null, "resume": "yes", "goto": []}']


@pytest.mark.parametrize("given", NO_INPUT)
def test_a_run_goes_on_after_a_persons_answer(tmp_path, given):
    """In a trace of its own, at once or after hours: the same outcome, with all the calls."""
    story = Story(tmp_path, TraceRules(settle_s=3, idle_s=60))
    first, second, third, other = (f"{number:032x}" for number in range(1, 5))
    asked = '{"messages": [["user", "Fix the build of the shop"]]}'
    story.buffer.spans([*graph(first, asked, "a", 0), *graph(second, given, "b", 10)])
    published = story.after(4)
    assert {each["outcome_id"] for each in published} == {f"shop:thread-1:{first}"}
    assert tools(published[-1]) == ["a", "b"]
    story.buffer.spans(graph(other, asked, "z", 20, "thread-2"))
    story.after(4)
    story.again()
    story.now += 3600 * 9
    story.buffer.spans(graph(third, given, "c", 30))
    (last,) = story.after(4)
    assert (last["outcome_id"], last["instruction"]) == (
        f"shop:thread-1:{first}",
        "Fix the build of the shop",
    )
    assert tools(last) == ["a", "b", "c"]


def test_two_instrumentations_with_traces_of_their_own_tell_of_one_run(story):
    """The same calls at the same time; one instrumentation that traces twice at once does not."""
    first, second, third = (f"{number:032x}" for number in range(1, 4))
    for trace, scope in ((first, "one"), (second, "two"), (third, "one")):
        root = agent_span(trace=trace, scope=scope)
        calls = [call_of(root, number, trace=trace, scope=scope) for number in (1, 2)]
        story.buffer.spans([root, *calls])
    last = {each["outcome_id"]: tools(each) for each in story.after(4)}
    assert last == {f"shop:{trace}": ["tool_1", "tool_2"] for trace in (first, third)}


def test_requests_to_a_model_alone_are_no_run_and_are_told_apart(story):
    """A loop of one's own has to say where it begins and ends."""
    request = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[]"}
    story.buffer.spans([span("chat", request)])
    assert story.after(70) == []
    (reason,) = story.counts()
    assert reason.startswith("traces of requests to a model alone")
