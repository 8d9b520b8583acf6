"""What the spans of further frameworks hold, in their makers' own words."""

import json

from tests.capture.telling import agent_span, called, run_told, span, tool_span
from trackrecord_capture.agent_run import SignalKind

STRANDS = "strands.telemetry.tracer"


def asked(text):
    return json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}])


def agent(name, under=None, **options):
    return agent_span(name, under=under, **options)


def tool(name, under, **options):
    return tool_span(name, under=under, **options)


def test_a_swarm_or_a_graph_of_agents_is_one_run_and_asked_what_the_person_asked():
    """Its agents are told more than that: what the others did, and who they are."""
    for operation in ("invoke_swarm", "invoke_graph"):
        root = span(
            operation,
            {"gen_ai.operation.name": operation, "gen_ai.input.messages": asked("Sort the files")},
            scope=STRANDS,
            lasts=20,
        )
        told = {"gen_ai.input.messages": asked("Context:\nUser Request: Sort the files")}
        reader = agent("reader", root, scope=STRANDS, attributes=told)
        writer = agent("writer", root, at=6, scope=STRANDS, attributes=told)
        run = run_told(
            *(root, reader, writer, tool("read_file", reader, scope=STRANDS)),
            tool("write_file", writer, at=7, scope=STRANDS),
        )
        assert called(run) == [("read_file", True), ("write_file", True)]
        assert [call.actor for call in run.calls] == ["agent", "writer"]
        assert run.instruction == "Sort the files"


def test_agents_of_one_workflow_of_agent_framework_are_one_run():
    """The workflow's span has no kind in any vocabulary, only its name."""
    scope = "agent_framework"
    root = span("workflow.run", {"workflow.id": "1"}, scope=scope, lasts=20)
    nodes = [span("executor.process", {}, under=root, scope=scope, at=at) for at in (0, 6)]
    told = {"gen_ai.input.messages": asked("Sort the files")}
    reader = agent("reader", nodes[0], scope=scope, attributes=told)
    writer = agent("writer", nodes[1], scope=scope, at=6, attributes=told)
    run = run_told(
        *(root, *nodes, reader, writer),
        *(tool("read_file", reader, scope=scope), tool("write_file", writer, scope=scope, at=7)),
    )
    assert called(run) == [("read_file", True), ("write_file", True)]
    assert run.instruction == "Sort the files"


def test_adk_sums_up_calls_that_ran_at_once_and_that_is_no_call():
    """Each of them has a span of its own beside it."""
    root = agent("fixer", scope="gcp.vertex.agent")
    run = run_told(
        *(root, tool("read_file", root), tool("read_file", root, at=0.1)),
        tool("(merged tools)", root, at=0.2),
    )
    assert [name for name, _ in called(run)] == ["read_file", "read_file"]


KIND = "openinference.span.kind"


def test_autogen_writes_the_task_with_repr():
    """AutoGen's own span above names no prompt; the messages are texts in a list."""
    root = agent("fixer", scope="autogen-core")
    messages = [
        "id='1' source='user' models_usage=None content='Don\\'t stop, fix it' type='TextMessage'",
        "id='2' source='fixer' content='I will' type='TextMessage'",
    ]
    below = span(
        "fixer.on_messages_stream",
        {KIND: "AGENT", "input.value": json.dumps({"messages": messages})},
        under=root,
        scope="openinference.instrumentation.autogen_agentchat",
    )
    assert run_told(root, below).instruction == "Don't stop, fix it"


def test_llamaindex_has_the_prompt_in_a_step_and_the_arguments_without_positional_ones():
    """The root's input is the state of the workflow; a handoff is no call."""
    scope = "openinference.instrumentation.llama_index"
    root = span("FunctionAgent.run", {KIND: "CHAIN", "input.value": "{}"}, scope=scope, lasts=9)
    event = (
        "AgentSetup(input=[ChatMessage(role=<MessageRole.SYSTEM: 'system'>, blocks=[TextBlock("
        "block_type='text', text='Be brief')]), ChatMessage(role=<MessageRole.USER: 'user'>, "
        "blocks=[TextBlock(block_type='text', text=\"Fix it, it's red\")]), ChatMessage("
        "role=<MessageRole.TOOL: 'tool'>, blocks=[TextBlock(block_type='text', text='1 failed')])])"
    )
    step = span(
        "BaseWorkflowAgent.run_agent_step",
        {KIND: "CHAIN", "input.value": json.dumps({"ctx": "<Context>", "ev": event})},
        under=root,
        scope=scope,
    )
    result = {"blocks": [{"text": "exit code: 1\nE assert 0"}], "is_error": False}
    calls = [
        span(
            "FunctionTool.acall",
            {KIND: "TOOL", "tool.name": name, "input.value": told, "output.value": answer},
            under=root,
            at=at,
            scope=scope,
        )
        for at, name, told, answer in (
            (1, "bash", '{"kwargs": {"command": "pytest -q"}}', json.dumps(result)),
            (2, "handoff", '{"kwargs": {"to_agent": "writer"}}', "handed over"),
        )
    ]
    run = run_told(root, step, *calls)
    assert run.instruction == "Fix it, it's red"
    assert called(run) == [("bash", False)]
    assert (run.calls[0].command, run.calls[0].exit_code) == ("pytest -q", 1)


def test_dspy_names_tools_by_their_method_and_ends_by_calling_finish():
    """What was asked is the input of the root, and not the template that the model gets."""
    root = span(
        "ReAct.forward",
        {KIND: "CHAIN", "input.value": '{"input_args": {"question": "Fix the build"}}'},
        lasts=9,
    )
    model = span(
        "LM.__call__",
        {
            KIND: "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "[[ ## question ## ]]\nFix the build",
        },
        under=root,
    )
    calls = [
        span(f"{name}.__call__", {KIND: "TOOL", "output.value": "ok"}, under=root, at=at)
        for at, name in ((1, "read_file"), (2, "finish"))
    ]
    run = run_told(root, model, *calls)
    assert called(run) == [("read_file", True)]
    assert run.instruction == "Fix the build"


def test_a_crew_was_asked_its_first_task():
    """CrewAI's input is empty or fills in the template of a task."""
    tasks = [
        {"description": f"{what} the file", "expected_output": "it"} for what in ("Read", "Write")
    ]
    root = span("Crew_1.kickoff", {KIND: "CHAIN", "crew_tasks": json.dumps(tasks)}, lasts=9)
    below = span("reader._execute_core", {KIND: "AGENT"}, under=root)
    assert run_told(root, below).instruction == "Read the file"


def test_a_lost_connection_to_the_model_blames_nobody_without_spans_of_requests():
    """Not all instrumentations tell of the requests; an error of a tool is another matter."""
    root = agent("fixer", status="error", raised=("ConnectionError", "503 overloaded"))
    assert endings(root, tool("read_file", root)) == [SignalKind.API_FAILED]
    failed = tool("fetch", root, status="error", raised=("ConnectionError", "refused"))
    assert endings(root, failed) == [SignalKind.CRASHED]
    bug = agent("fixer", status="error", raised=("KeyError", "'x503y'"))
    assert endings(bug, tool("read_file", bug)) == [SignalKind.CRASHED]


def test_agno_has_the_error_in_what_the_agent_answered():
    """Its status says only that there was one."""
    told = {KIND: "AGENT", "input.value": "Fix it", "output.value": "503 overloaded"}
    root = span("fixer.run", told, status="error", message="run status: error", lasts=9)
    assert endings(root, tool("read_file", root)) == [SignalKind.API_FAILED]


def endings(*told):
    return [sign.kind for sign in run_told(*told).signs]


def test_langfuse_records_how_a_function_was_called():
    """The only text among the arguments of the topmost one is what was asked."""
    for called_with in (
        {"args": ["Fix it"], "kwargs": {}},
        {"args": [], "kwargs": {"goal": "Fix it"}},
    ):
        told = {
            "langfuse.observation.type": "agent",
            "langfuse.observation.input": json.dumps(called_with),
        }
        assert run_told(span("fixer", told)).instruction == "Fix it"


def test_a_result_that_is_a_json_string_is_read_without_its_quotes():
    """DSPy records what a tool returned as JSON."""
    root = agent("fixer")
    (call,) = run_told(
        root,
        tool("bash", root, attributes={"gen_ai.tool.call.result": json.dumps("exit code: 2\nno")}),
    ).calls
    assert (call.ok, call.exit_code, call.result) == (False, 2, "exit code: 2\nno")


def test_an_error_type_that_is_false_is_no_error():
    """Attributes are of any type."""
    root = agent("fixer")
    told = tool("x", root, attributes={"error.type": False, "gen_ai.tool.call.result": "done"})
    assert called(run_told(root, told)) == [("x", True)]
