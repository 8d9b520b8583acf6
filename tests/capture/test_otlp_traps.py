"""Traps that spans of real frameworks hold, each as the framework sends it."""

import json
import sqlite3
from contextlib import closing

import msgspec
import pytest

from tests.capture.telling import START, TRACE, called, log, only_call, run_told, runs_told, span
from tests.capture.telling import agent_span as agent
from tests.capture.telling import tool_span as tool
from trackrecord_capture.agent_run import SignalKind, run_outcome_id
from trackrecord_capture.otlp.encodings.span import SpanEvent
from trackrecord_capture.otlp.facts.log_events import event_of
from trackrecord_capture.otlp.runs.event_runs import RecordedPrompt
from trackrecord_capture.otlp.runs.runs import TraceScore, runs_of
from trackrecord_capture.otlp.traces.opening import recorded_prompt

PYDANTIC = "pydantic-ai"
OPENINFERENCE = "openinference.instrumentation.langchain"
TRACELOOP = "opentelemetry.instrumentation.langchain"


def test_pydantic_ai_a_tool_that_asks_for_a_retry_failed_without_an_error_type():
    """The status and the exception say it; the arguments and the id are those of the call."""
    root = agent(scope=PYDANTIC, attributes={"gen_ai.conversation.id": "c-1"})
    call = only_call(
        root,
        tool(
            attributes={
                "gen_ai.tool.call.id": "call_1",
                "gen_ai.tool.call.arguments": '{"path":"tests/"}',
                "gen_ai.tool.call.result": "2 tests failed",
            },
            under=root,
            status="error",
            raised=("pydantic_ai.exceptions.ToolRetryError", "2 tests failed"),
            scope=PYDANTIC,
        ),
    )
    assert (call.ok, call.error, call.id) == (False, "2 tests failed", "call_1")
    assert call.arguments == {"path": "tests/"}


def test_pydantic_ai_sums_its_tokens_in_the_root_and_has_them_in_each_request():
    """Tokens are those of the requests, once."""
    root = agent(scope=PYDANTIC, attributes={"gen_ai.aggregated_usage.input_tokens": 178})
    chats = [
        span(
            "chat m", {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": tokens},
            under=root, at=at,
        )
        for at, tokens in enumerate((54, 61, 63))
    ]  # fmt: skip
    assert run_told(root, *chats).tokens_in == 178


def test_pydantic_ai_all_messages_hold_the_prompt_and_results_of_tools_as_the_users():
    """What was asked are the user's words, and not what a tool returned to the model."""
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": "Fix the failing build"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "run_tests"}]},
        {
            "role": "user",
            "parts": [{"type": "tool_call_response", "id": "1", "result": "12 passed"}],
        },
    ]
    root = agent(attributes={"pydantic_ai.all_messages": json.dumps(messages)})
    assert run_told(root, tool(under=root)).instruction == "Fix the failing build"


def test_openai_agents_everything_is_ok_explicitly_and_the_details_are_redacted():
    """A failed call is told by its own status; a handoff and the turns are no calls."""
    kind = "openinference.span.kind"
    scope = "openinference.instrumentation.openai_agents"
    root = span("build-fix", {kind: "AGENT"}, status="ok", lasts=10, scope=scope)
    chain = span("build-fix", {kind: "CHAIN"}, under=root, status="ok", lasts=9, scope=scope)
    fixer = span(
        "fixer", {kind: "AGENT", "agent.name": "fixer"}, under=chain, status="ok", scope=scope
    )
    turn = span("turn", {kind: "CHAIN"}, under=fixer, status="ok", scope=scope)
    failed = span(
        "run_tests",
        {
            kind: "TOOL", "tool.name": "run_tests", "input.value": '{"path":"tests/"}',
            "output.value": "An error occurred while running the tool. Please try again.",
        },
        under=turn,
        status="error",
        message="Error running tool (non-fatal): details are redacted",
        scope=scope,
    )  # fmt: skip
    handoff = span("handoff to reviewer", {kind: "TOOL", "input.value": "fixer"}, under=turn)
    reviewer = span("reviewer", {kind: "AGENT", "agent.name": "reviewer"}, under=chain, at=2)
    turn_2 = span("turn", {kind: "CHAIN"}, under=reviewer, at=2)
    read = span(
        "read_file", {kind: "TOOL", "tool.name": "read_file", "output.value": "print(1)"},
        under=turn_2, at=2, status="ok",
    )  # fmt: skip
    run = run_told(root, chain, fixer, turn, failed, handoff, reviewer, turn_2, read)
    assert called(run) == [("run_tests", False), ("read_file", True)]
    assert [call.actor for call in run.calls] == ["agent", "reviewer"]
    assert (run.name, run.agent) == ("fixer", "shop")
    assert run.outcome_id == run_outcome_id("shop", "", TRACE)


def test_langchain_with_openinference_has_a_bare_value_for_one_argument():
    """The value stays as it is; the call's id is dug out of the wrapped result."""
    kind = "openinference.span.kind"
    root = span(
        "fixer",
        {kind: "CHAIN", "input.value": '{"messages": [["user", "Fix it"]]}', "session.id": "s-1"},
        lasts=10,
        scope=OPENINFERENCE,
    )
    node = span("tools", {kind: "CHAIN"}, under=root, scope=OPENINFERENCE)
    message = {"content": "12 passed", "tool_call_id": "call_1", "status": "success"}
    call = only_call(
        root,
        node,
        span(
            "run_tests",
            {
                kind: "TOOL", "tool.name": "run_tests", "input.value": "tests/",
                "output.value": json.dumps({"type": "tool", "data": message}),
            },
            under=node,
            scope=OPENINFERENCE,
        ),
    )  # fmt: skip
    assert (call.arguments, call.id, call.result, call.ok) == (
        "tests/", "call_1", "12 passed", True,
    )  # fmt: skip


def test_langchain_handles_an_error_and_says_so_only_in_the_message_of_the_tool():
    """The span is OK, the message's status is not."""
    kind = "openinference.span.kind"
    root = span("fixer", {kind: "CHAIN"}, lasts=10)
    message = {"content": "2 tests failed", "tool_call_id": "c", "status": "error"}
    call = only_call(
        root,
        span(
            "run_tests",
            {kind: "TOOL", "output.value": json.dumps({"type": "tool", "data": message})},
            under=root,
            status="ok",
        ),
    )
    assert (call.ok, call.error) == (False, "2 tests failed")


def test_a_status_description_that_is_a_whole_traceback_is_not_the_error():
    """What the exception says is the error."""
    root = agent()
    call = only_call(
        root,
        tool(
            under=root,
            status="error",
            message="ValueError('2 tests failed')Traceback (most recent call last):\n  File …",
            raised=("ValueError", "2 tests failed"),
        ),
    )
    assert call.error == "2 tests failed"


def test_traceloop_has_pythons_repr_inside_json_and_the_roots_twice():
    """The arguments are decoded, and agent and workflow are one run; creating an agent is none."""
    root = agent(attributes={"gen_ai.conversation.id": "conv-7"}, scope=TRACELOOP)
    created = span(
        "create_agent fixer",
        {"gen_ai.operation.name": "create_agent", "gen_ai.agent.name": "fixer"},
        scope=TRACELOOP,
    )
    workflow = span(
        "fixer.workflow",
        {"traceloop.span.kind": "workflow", "gen_ai.operation.name": "invoke_agent"}, under=root,
        lasts=9, scope=TRACELOOP,
    )  # fmt: skip
    node = span(
        "execute_task tools",
        {"traceloop.span.kind": "task", "gen_ai.operation.name": "execute_task"},
        under=workflow,
        scope=TRACELOOP,
    )
    given = {"input_str": "{'path': 'tests/'}", "tags": [], "metadata": {"thread_id": "conv-7"}}
    call = tool(
        attributes={
            "traceloop.span.kind": "tool", "gen_ai.tool.call.arguments": json.dumps(given),
            "gen_ai.task.status": "failure", "error.type": "ValueError",
        },
        under=node,
        scope=TRACELOOP,
    )  # fmt: skip
    run = run_told(created, root, workflow, node, call)
    assert called(run) == [("run_tests", False)]
    assert run.calls[0].arguments == {"path": "tests/"}
    assert run.session == "conv-7"


def test_langsmith_copies_of_environment_variables_are_never_kept():
    """Nothing but named attributes is read."""
    private = "lsv2-not-for-anybody"
    root = span(
        "fixer",
        {
            "langsmith.span.kind": "chain",
            "gen_ai.operation.name": "chain",
            "langsmith.metadata.thread_id": "conv-7",
            "langsmith.metadata.LANGSMITH_API_KEY": private,
            "langsmith.metadata.LANGSMITH_ENDPOINT": private,
            "gen_ai.prompt": '{"messages":[["user","Fix it"]]}',
        },
        lasts=10,
    )
    call = span(
        "run_tests",
        {
            "langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "run_tests", "langsmith.metadata.LANGSMITH_API_KEY": private,
        },
        under=root,
        status="ok",
    )  # fmt: skip
    run = run_told(root, call)
    assert private not in repr(run)
    assert (run.session, run.instruction) == ("conv-7", "Fix it")


def test_smolagents_names_a_tools_span_by_its_class_and_ends_with_a_final_answer():
    """The tool's own name counts, its arguments are the forwarded ones, the answer is no call."""
    kind = "openinference.span.kind"
    root = span("fixer.run", {kind: "AGENT", "input.value": '{"task": "Fix it"}'}, lasts=10)
    step = span("Step 1", {kind: "CHAIN"}, under=root)
    given = {"args": [], "sanitize_inputs_outputs": True, "kwargs": {"path": "t"}}
    calls = [
        span(
            class_name, {kind: "TOOL", "tool.name": name, "input.value": json.dumps(given)},
            under=step, at=at, scope="openinference.instrumentation.smolagents",
        )
        for at, (class_name, name) in enumerate(
            [("SimpleTool", "run_tests"), ("FinalAnswerTool", "final_answer")]
        )
    ]  # fmt: skip
    run = run_told(root, step, *calls)
    assert [(call.tool, call.arguments) for call in run.calls] == [("run_tests", {"path": "t"})]
    assert (run.name, run.instruction) == ("fixer", "Fix it")


def test_strands_has_arguments_and_results_in_events_and_a_status_of_its_own():
    """Without the opt-in for attributes, the events are read."""
    root = agent(attributes={"session.id": "s-1"}, scope="strands.telemetry.tracer")
    call = only_call(
        root,
        tool(
            attributes={"gen_ai.tool.status": "error"},
            under=root,
            events=[
                SpanEvent("gen_ai.tool.message", 0, {"content": '{"path": "tests/"}', "id": "t1"}),
                SpanEvent("gen_ai.choice", 0, {"message": '[{"text": "Error: 2 tests failed"}]'}),
            ],
            scope="strands.telemetry.tracer",
        ),
    )
    assert (call.ok, call.arguments) == (False, {"path": "tests/"})
    assert call.error == "Error: 2 tests failed"


def test_adk_a_tool_that_returns_an_error_leaves_the_status_unset():
    """The result says it; where results are not captured, nobody knows."""
    root = span(
        "invoke_workflow fixer",
        {"gen_ai.operation.name": "invoke_workflow", "gen_ai.conversation.id": "s"},
        lasts=10,
        scope="gcp.vertex.agent",
    )
    fixer = agent(under=root, lasts=9, scope="gcp.vertex.agent")
    result = '{"status": "error", "error_message": "2 tests failed"}'
    told = tool(
        attributes={"gen_ai.tool.call.result": result}, under=fixer, scope="gcp.vertex.agent"
    )
    hidden = tool("read_file", under=fixer, at=1, scope="gcp.vertex.agent")
    run = run_told(root, fixer, told, hidden)
    assert called(run) == [("run_tests", False), ("read_file", None)]
    assert run.calls[0].error == "2 tests failed"


def test_agent_framework_hides_arguments_and_still_says_what_raised():
    """Its error status can be relied on, so that its absence means success."""
    root = agent(scope="agent_framework")
    raised = tool(
        attributes={"error.type": "ValueError"}, under=root, status="error", scope="agent_framework"
    )
    went_well = tool("read_file", under=root, at=1, scope="agent_framework")
    assert called(run_told(root, raised, went_well)) == [("run_tests", False), ("read_file", True)]


def test_crewai_tells_its_calls_on_its_event_bus_alone():
    """Its instrumentation has the kickoff and the agents; our listener's calls stand below them."""
    kind, operation = "openinference.span.kind", "gen_ai.operation.name"
    theirs = span("Crew.kickoff", {kind: "CHAIN"}, lasts=10)
    task = span("fix", {kind: "AGENT", "task_name": "fix"}, under=theirs)
    run = run_told(theirs, task)
    assert run.calls == ()
    assert run.outcome_id == run_outcome_id("shop", "", TRACE)

    crew = span("invoke_agent crew", {operation: "invoke_agent"}, under=theirs, lasts=9)
    agent = {operation: "invoke_agent", "gen_ai.agent.name": "fixer"}
    fixer = span("invoke_agent fixer", agent, under=crew, lasts=8)
    called_read = {operation: "execute_tool", "gen_ai.tool.name": "read"}
    calls = [
        span(
            "execute_tool read", called_read, under=fixer, at=at, scope="trackrecord.crewai", **how
        )
        for at, how in enumerate([{"status": "error", "message": "no such file"}, {}])
    ]
    both = run_told(theirs, task, crew, fixer, *calls)
    assert called(both) == [("read", False), ("read", True)]
    assert both.calls[0].error == "no such file"
    assert both.outcome_id == run.outcome_id


def test_langfuse_says_a_failure_in_its_level():
    """`level=ERROR` is a failure, whatever the status is."""
    kind = "langfuse.observation.type"
    root = span("fixer", {kind: "agent", "session.id": "s-9"}, lasts=10)
    call = only_call(
        root,
        span(
            "run_tests",
            {
                kind: "tool",
                "langfuse.observation.input": '{"path": "tests/"}',
                "langfuse.observation.level": "ERROR",
                "langfuse.observation.status_message": "2 tests failed",
            },
            under=root,
        ),
    )
    assert (call.tool, call.ok, call.error) == ("run_tests", False, "2 tests failed")


def test_vercel_ai_requests_of_one_loop_are_one_run_and_a_title_is_not_asked():
    """opencode: the loop's own span never comes, and a command that exited 1 has status OK."""
    session = {"session.id": "ses_1"}
    title = span(
        "ai.streamText",
        {
            "ai.operationId": "ai.streamText",
            "ai.prompt": '{"messages":[{"role":"user","content":"Generate a title"}]}',
            **session,
        },
        under="00000000000000aa",
        service="opencode",
    )
    request = span(
        "ai.streamText",
        {
            "ai.operationId": "ai.streamText",
            "ai.prompt": '{"messages":[{"role":"user","content":"Fix the failing tests"}]}',
            **session,
        },
        under="00000000000000ab",
        at=1,
        service="opencode",
    )
    inside = span("SessionPrompt.ops", under="00000000000000ab", at=1, service="opencode")
    result = {"metadata": {"exit": 1}, "output": "2 tests failed\n"}
    calls = [
        span(
            "ai.toolCall",
            {
                "ai.operationId": "ai.toolCall", "ai.toolCall.name": "bash",
                "ai.toolCall.id": f"call_{at}", "ai.toolCall.args": '{"command": "pytest"}',
                "ai.toolCall.result": json.dumps(result | {"metadata": {"exit": code}}), **session,
            },
            under=parent,
            at=at,
            status="ok",
            service="opencode",
        )
        for at, code, parent in ((2, 1, request), (3, 0, "00000000000000ac"))
    ]  # fmt: skip
    run = run_told(title, inside, request, *calls)
    assert called(run) == [("bash", False), ("bash", True)]
    assert [call.exit_code for call in run.calls] == [1, 0]
    assert run.calls[0].command == "pytest"
    assert run.instruction == "Fix the failing tests"
    assert (run.agent, run.session, run.is_over) == ("opencode", "ses_1", False)


def claude_event(name, attributes, **options):
    common = {"session.id": "s-1", "prompt.id": "p-1"}
    return log(name, common | attributes, body=f"claude_code.{name}", trace=TRACE, **options)


def test_claude_code_names_the_commit_that_a_call_made():
    """Beside its command line; durations are texts."""
    parameters = '{"full_command": "git commit", "git_commit_id": "abcdef1"}'
    told = {"tool_name": "Bash", "tool_use_id": "toolu_2", "success": "true", "duration_ms": "20"}
    run = run_told(claude_event("tool_result", told | {"tool_parameters": parameters}))
    assert run.commits == ("abcdef1",)
    assert [(c.command, c.duration_ms) for c in run.calls] == [("git commit", pytest.approx(20))]


def test_claude_code_a_failed_tools_span_is_unset_and_its_child_knows():
    """`claude_code.tool.execution` says it; event and span of one call are one call."""
    kind, session = "span.type", {"session.id": "s-1"}
    root = span(
        "claude_code.interaction",
        {kind: "interaction", "gen_ai.operation.name": "invoke_agent", **session},
        lasts=10,
    )
    call = span(
        "claude_code.tool",
        {
            kind: "tool", "gen_ai.tool.name": "Bash", "gen_ai.tool.call.id": "toolu_1",
            "full_command": "pytest -q", **session,
        },
        under=root,
        at=1,
    )  # fmt: skip
    execution = span(
        "claude_code.tool.execution",
        {kind: "tool.execution", "success": False, "error.type": "tool_error"}, under=call, at=1,
        status="error", message="Shell command failed",
    )  # fmt: skip
    prompt = claude_event("user_prompt", {"prompt": "Fix it"})
    event = claude_event(
        "tool_result",
        {"tool_name": "Bash", "tool_use_id": "toolu_1", "success": "false", "duration_ms": "90"},
        at=1.1,
    )
    run = run_told(root, call, execution, prompt, event)
    assert called(run) == [("Bash", False)]
    assert run.calls[0].error == "Shell command failed"
    assert run.is_over


@pytest.mark.parametrize("decision_first", [True, False])
def test_claude_code_a_call_that_was_refused_did_not_fail(decision_first):
    """Nobody knows how it would have ended, and it changed nothing."""
    whose = {"tool_name": "Write", "tool_use_id": "toolu_1"}
    told = {"success": "false", "error": "rejected", "tool_input": '{"file_path": "a.py"}'}
    refused = claude_event("tool_decision", whose | {"decision": "reject"}, at=2 - decision_first)
    call = {
        "span.type": "tool", "gen_ai.tool.name": "Write", "session.id": "s-1",
        "gen_ai.tool.call.id": "toolu_1", "file_path": "a.py",
    }  # fmt: skip
    run = run_told(
        claude_event("user_prompt", {"prompt": "Fix it"}),
        refused,
        span("claude_code.tool", call, at=1, lasts=1, status="error"),
    )
    assert [(c.ok, c.edits) for c in run.calls] == [(None, ())]
    assert [sign.kind for sign in run.signs] == [SignalKind.REJECTED]
    assert run_told(claude_event("tool_result", whose | told)).calls[0].ok is False


def test_claude_code_spans_without_events_have_no_prompt_id_and_are_left_out():
    """The same run would otherwise count twice, once under the id of its transcript."""
    root = span(
        "claude_code.interaction", {"span.type": "interaction", "session.id": "s-1"}, lasts=10
    )
    assert runs_told(root) == []


def test_claude_code_a_rating_is_a_persons_word():
    """The survey's answer confirms or denies."""
    run = run_told(
        claude_event("user_prompt", {"prompt": "Fix it"}),
        claude_event("feedback_survey", {"event_type": "responded", "response": "bad"}, at=1),
    )
    assert [(sign.kind, sign.success) for sign in run.signs] == [(SignalKind.CONFIRMED, False)]


def codex_event(name, attributes, **options):
    told = {"event.name": f"codex.{name}", "conversation.id": "thread-1"} | attributes
    return log("event otel/src/x.rs:1", told, trace=TRACE, **options)


def test_claude_code_a_notification_is_not_a_prompt():
    """That a sub-agent ended, nobody asked."""
    note = "<task-notification>\\n<task-id>a1</task-id>"
    assert runs_told(claude_event("user_prompt", {"prompt": note})) == []


def test_rule_1_an_ok_status_does_not_outweigh_what_the_result_says():
    """Exit codes, MCP's flag and words in the result are failures under any status."""
    results = {
        "exit_code": '{"exit_code": 2, "output": "boom"}',
        "mcp": '{"content": [{"type": "text", "text": "no"}], "isError": true}',
        "status": '{"status": "error"}',
        "text": "Process exited with code 3\nboom",
        "ok": '{"exit_code": 0, "output": "error: none"}',
    }
    root = agent()
    calls = [
        tool(name, {"gen_ai.tool.call.result": result}, under=root, at=at, status="ok")
        for at, (name, result) in enumerate(results.items())
    ]
    assert called(run_told(root, *calls)) == [
        ("exit_code", False), ("mcp", False), ("status", False), ("text", False), ("ok", True),
    ]  # fmt: skip


def test_rule_2_a_root_without_an_error_proves_nothing():
    """A final answer is not a goal reached; a root that raised is a crash."""
    assert run_told(agent(status="ok"), tool(under="0")).signs == ()
    crashed = agent(status="error", raised=("RuntimeError", "boom"))
    (sign,) = run_told(crashed, tool(under=crashed)).signs
    assert (sign.kind, sign.says) == (SignalKind.CRASHED, "RuntimeError boom")


@pytest.mark.parametrize(
    ("error_type", "kind"),
    [
        ("openai.RateLimitError", SignalKind.API_FAILED),
        ("pydantic_ai.exceptions.ModelHTTPError", SignalKind.API_FAILED),
        ("KeyboardInterrupt", SignalKind.INTERRUPTED),
        ("asyncio.exceptions.CancelledError", SignalKind.INTERRUPTED),
        ("agents.exceptions.MaxTurnsExceeded", SignalKind.CRASHED),
    ],
)
def test_rule_2_an_api_that_failed_and_an_interruption_are_no_crash(error_type, kind):
    """Whose fault the end was is told by the type of the error."""
    root = agent(status="error", raised=(error_type, "…"))
    (sign,) = run_told(root, tool(under=root)).signs
    assert sign.kind is kind


def test_rule_2_where_a_request_failed_last_no_answer_came_whatever_the_root_says():
    """A request that failed before others is no ending, and neither is a person's interruption."""
    request = {"gen_ai.operation.name": "chat"}

    def told(error_type, *, then):
        root = agent(status="ok")
        failed = span("chat", request, under=root, at=1, status="error", raised=(error_type, "500"))
        return run_told(root, failed, *([span("chat", request, under=root, at=2)] if then else []))

    (sign,) = told("shop.SomeError", then=False).signs
    assert sign.kind is SignalKind.API_FAILED
    assert told("shop.SomeError", then=True).signs == ()
    assert told("asyncio.exceptions.CancelledError", then=False).signs == ()


def test_rule_2_a_call_that_waits_for_a_person_is_none_yet():
    """It is made anew after the answer."""
    root = agent()
    waits = tool("deploy", under=root, raised=("langgraph.errors.GraphInterrupt", "(Interrupt())"))
    assert called(run_told(root, waits, tool(under=root, at=1))) == [("run_tests", None)]


def test_rule_3_one_call_that_two_instrumentations_tell_of_is_one_call():
    """Same tool, at the same time, same arguments in another spelling: the details are joined."""
    root = agent(scope=TRACELOOP)
    other_root = span("fixer", {"openinference.span.kind": "CHAIN"}, lasts=10, scope=OPENINFERENCE)
    one = tool(
        attributes={"gen_ai.tool.call.arguments": '{"path": "tests/"}'}, under=root, at=1,
        status="error", raised=("ValueError", "2 tests failed"), scope=TRACELOOP,
    )  # fmt: skip
    other = span(
        "run_tests",
        {
            "openinference.span.kind": "TOOL", "tool.name": "run_tests", "input.value": "tests/",
            "output.value": "2 tests failed",
        },
        under=other_root,
        at=1.01,
        scope=OPENINFERENCE,
    )  # fmt: skip
    run = run_told(root, other_root, one, other)
    (call,) = run.calls
    assert (call.arguments, call.ok, call.result) == ({"path": "tests/"}, False, "2 tests failed")


def test_rule_3_equal_calls_of_one_instrumentation_stay_apart():
    """Called twice at once with the same arguments is called twice."""
    root = agent()
    given = {"gen_ai.tool.call.arguments": '{"path": "a"}', "gen_ai.tool.call.id": "same"}
    run = run_told(root, tool("read", given, under=root), tool("read", given, under=root, at=0.05))
    assert len(run.calls) == 2


def test_rule_3_a_call_within_the_same_call_is_one_call():
    """A client's span around its server's is one call."""
    root = agent()
    outer = tool(attributes={"gen_ai.tool.call.arguments": '{"a": 1}'}, under=root, lasts=1)
    inner = tool(
        attributes={"gen_ai.tool.call.arguments": '{"a": 1}'}, under=outer, service="server"
    )
    assert len(run_told(root, outer, inner).calls) == 1


def test_rule_3_what_stands_above_an_agent_is_not_its_run():
    """A web request is no agent; two agents in it are two runs."""
    request = span("POST /fix", {"http.request.method": "POST"}, lasts=20)
    one = agent("one", under=request, service="")
    two = agent("two", under=request, at=11, service="")
    calls = (tool(under=one, service=""), tool("other", under=two, at=12, service=""))
    runs = runs_told(request, one, two, *calls)
    assert [(run.agent, called(run)) for run in runs] == [
        ("one", [("run_tests", None)]),
        ("two", [("other", None)]),
    ]
    assert runs[0].outcome_id == run_outcome_id("one", "", TRACE)
    assert runs[1].outcome_id != runs[0].outcome_id


def test_rule_5_arguments_in_every_spelling():
    """JSON, a structure, Python's repr, a bare value, keyword arguments, or nothing."""
    root = agent()
    spellings = {
        "json": ('{"path": "a"}', {"path": "a"}), "structure": ({"path": "a"}, {"path": "a"}),
        "repr": ("{'path': 'a', 'deep': None}", {"path": "a", "deep": None}), "bare": ("a", "a"),
        "kwargs": ('{"args": [], "kwargs": {"path": "a"}}', {"path": "a"}),
    }  # fmt: skip
    calls = [
        tool(name, {"gen_ai.tool.call.arguments": given}, under=root, at=at)
        for at, (name, (given, _)) in enumerate(spellings.items())
    ]
    run = run_told(root, *calls, tool("absent", under=root, at=9))
    told = {call.tool: call.arguments for call in run.calls}
    assert told == {name: expected for name, (_, expected) in spellings.items()} | {"absent": None}


def test_spans_that_stand_above_themselves_end_in_bounded_time():
    """What claims to be its own ancestor is read like any other."""
    one = span("a", under="00000000000000ff")
    two = tool(under=one)
    circle = msgspec.structs.replace(one, parent_id=two.span_id)
    alone = tool("looped", under="00000000000000fe")
    itself = msgspec.structs.replace(alone, parent_id=alone.span_id)
    assert runs_told(circle, two, itself) is not None


def test_an_evaluation_event_of_the_run_is_its_verdict_and_one_of_a_call_is_not():
    """A label says how it went; a bare number has no threshold."""
    root = agent()
    call = tool(under=root, at=1)

    def score(of, **told):
        from trackrecord_capture.otlp.facts.evaluations import evaluation_in

        attributes = {f"gen_ai.evaluation.{name}": value for name, value in told.items()}
        evaluation = evaluation_in(log("gen_ai.evaluation.result", attributes))
        return TraceScore(span=of, evaluation=evaluation)

    (run,) = runs_told(
        root,
        call,
        scores=[
            score(root.span_id, **{"name": "correctness", "score.label": "fail"}),
            score(call.span_id, **{"name": "useful", "score.label": "pass"}),
            score("", **{"name": "style", "score.value": 0.4}),
        ],
    )
    assert [(sign.success, sign.call) for sign in run.signs] == [
        (False, None), (None, 0), (None, None),
    ]  # fmt: skip
    assert run.signs[0].says == "correctness: fail"


def test_openinference_annotations_on_a_span():
    """Flattened annotations are scores; those of the trace judge the run."""
    root = agent(
        attributes={
            "trace.annotations.0.annotation.name": "resolved",
            "trace.annotations.0.annotation.label": "correct",
            "trace.annotations.0.annotation.score": 1.0,
            "trace.annotations.1.annotation.name": "toxicity",
            "trace.annotations.1.annotation.label": "false",
        }
    )
    run = run_told(root, tool(under=root))
    assert [sign.success for sign in run.signs] == [True, True]


def test_codex_without_its_spans_is_found_in_its_recording_or_stands_under_its_trace():
    """The turn is asked for by session and moment."""
    events = (
        codex_event("user_prompt", {"prompt": "Fix it"}),
        codex_event("tool_result", {"tool_name": "exec_command", "output": "done"}, at=1),
    )
    facts = [event_of(event)[1] for event in events]
    asked = []

    def recorded(agent, session, at):
        asked.append((agent, session, at))
        return RecordedPrompt("turn-7", "/src/shop", "git.example.com/acme/shop.git")

    (found,) = runs_of(TRACE, facts, prompt_of=recorded)
    assert found.run.outcome_id == run_outcome_id("codex", "thread-1", "turn-7")
    assert (found.run.folder, found.run.repository[-8:]) == ("/src/shop", "shop.git")
    assert asked == [("codex", "thread-1", START)]
    assert run_told(*events).outcome_id == run_outcome_id("codex", "thread-1", TRACE)


def test_opencode_is_found_in_its_database(tmp_path, monkeypatch):
    """Its spans name no prompt; the last message of the person before they began is the one."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "opencode").mkdir()
    with closing(sqlite3.connect(tmp_path / "opencode" / "opencode.db")) as database:
        database.execute("CREATE TABLE session (id, directory)")
        database.execute("INSERT INTO session VALUES ('ses_1', '/src/shop')")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        for name, role, at in (
            ("msg_1", "user", -60),
            ("msg_2", "user", -1),
            ("msg_3", "assistant", 0),
            ("msg_4", "user", 60),
        ):
            row = (name, "ses_1", (START + at) * 1000, json.dumps({"role": role}))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        database.commit()
    assert recorded_prompt("opencode", "ses_1", START) == RecordedPrompt("msg_2", "/src/shop")
    assert recorded_prompt("opencode", "ses_2", START) == RecordedPrompt()
    assert recorded_prompt("shop", "ses_1", START) == RecordedPrompt()
