"""What the spans of further frameworks hold, in their makers' own words."""

import json

from telling import called, run_told, span

STRANDS = "strands.telemetry.tracer"


def asked(text):
    return json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}])


def agent(name, under=None, **options):
    told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    told |= options.pop("attributes", {})
    return span(f"invoke_agent {name}", told, under=under, **{"lasts": 5, **options})


def tool(name, under, **options):
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    told |= options.pop("attributes", {})
    return span(f"execute_tool {name}", told, under=under, **options)


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
