"""Agents use the tools through the SDK's own client, over both transports, against real servers."""

import asyncio
import json
import time

import anyio
import pytest

from tests.support.processes import until
from trackrecord_door.mcp_server.mcp_scope import ALL

FACT = "The cart rounds to whole cents"
TASK = "Fix the rounding of the cart"
VERSIONS = ("legacy", "auto")
PATIENCE_S = 120.0


def run(test, *arguments):
    """Run a coroutine function to its end."""
    return anyio.run(test, *arguments)


def client_of(served, transport, mode="auto", project="shop"):
    if transport == "http":
        return served.over_http(mode, project=project)
    return served.over_stdio("--project", project, mode=mode)


async def text_of(client, tool, **arguments):
    """Return what a tool answers, which must be well."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    return answer.content[0].text, answer.structured_content


async def recalled(client, wanted, **arguments):
    """Recall until something is known."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        text, document = await text_of(client, "recall", **arguments)
        if wanted in text:
            return text, document
        assert time.monotonic() < deadline, text
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_what_is_remembered_and_reported_is_learnt_and_recalled(served, transport):
    """Through the worker; the text, the entries behind it, and what the task was handed."""
    project = f"learnt-{transport}"

    async def use():
        async with client_of(served, transport, project=project) as client:
            _, empty = await text_of(client, "recall", task=TASK)
            assert (empty["context"], empty["entries"]) == ("", [])
            assert empty["project"] == project
            said, document = await text_of(client, "remember", text=FACT)
            assert project in said
            text, found = await recalled(client, FACT, task=TASK, budget=300)
            (entry,) = found["entries"]
            assert entry["section"] == "memories"
            assert entry["id"] == document["memory_id"]
            assert FACT in found["context"]
            assert found["tokens"] <= 300
            assert found["task_id"] in text
            _, reported = await text_of(
                client, "report_outcome", task_id=found["task_id"], success=False, task=TASK,
                strategy="file-based", outcome_source="tests",
                failure_details="the test of the total failed", memory_ids=[entry["id"]],
            )  # fmt: skip
            return found["task_id"], reported

    task_id, reported = run(use)
    until(lambda: served.runs(project) and served.exposures(task_id))
    (run_,) = served.runs(project)
    assert (run_["outcome_id"], run_["task_id"]) == (reported["outcome_id"], task_id)
    assert (run_["success"], run_["outcome_source"]) == (False, "tests")
    # Over HTTP, a client of an old version says who it is on another request than it reports.
    assert run_["source"] == "tester" or (transport, run_["source"]) == ("http", "mcp")


def test_another_report_of_a_task_corrects_the_first(served):
    """There is one outcome of the task, the last one."""

    async def use():
        async with served.over_http(project="corrected") as client:
            for success in (True, False):
                await text_of(client, "report_outcome", task_id="t-1", success=success)

    run(use)
    until(lambda: [each["success"] for each in served.runs("corrected")] == [False])


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_an_agent_is_told_what_the_tools_are_for(served, transport):
    """In the instructions and in the tools, by clients of old and of new versions alike."""

    async def look(mode):
        async with client_of(served, transport, mode) as client:
            listed = await client.list_tools()
            return client.instructions, [tool.model_dump() for tool in listed.tools]

    old, new = (run(look, mode) for mode in VERSIONS)
    assert old == new
    instructions, tools = new
    assert [tool["name"] for tool in tools] == list(ALL)
    assert all(f"- {name}: " in instructions for name in ALL)
    assert {tool["name"]: tool["annotations"]["read_only_hint"] for tool in tools} == {
        "recall": True,
        "remember": False,
        "report_outcome": False,
    }
    for tool in tools:
        assert tool["input_schema"]["type"] == tool["output_schema"]["type"] == "object"
        described = tool["input_schema"]["properties"].values()
        assert all(each["description"] for each in described)


def test_an_agent_of_one_project_sees_nothing_of_another(served):
    """Whichever way the project is named."""

    async def use():
        async with served.over_http(project="ours") as ours:
            await text_of(ours, "remember", text=FACT)
            await recalled(ours, FACT, task=TASK)
        for other in (
            served.over_http(project="theirs"),
            served.over_http(),
            served.over_stdio("--project", "theirs"),
        ):
            async with other as client:
                text, _ = await text_of(client, "recall", task=TASK)
                assert FACT not in text

    run(use)


def test_the_project_is_that_of_the_folder_if_asked_for(served, tmp_path, monkeypatch):
    """As the hooks name it, so that both speak of the same runs."""
    folder = tmp_path / "acme-shop"
    folder.mkdir()
    monkeypatch.chdir(folder)

    async def use():
        async with served.over_stdio("--by-folder", "--tool", "remember") as client:
            (tool,) = (await client.list_tools()).tools
            assert tool.name == "remember"
            _, document = await text_of(client, "remember", text=FACT)
            assert document["project"] == "acme-shop"

    run(use)


def test_a_failed_command_is_answered_with_what_is_known_of_it(served, tmp_path):
    """Before anything else, with what the error says; not while a person has dismissed it."""
    project = "failed"
    line, error = "rtk bun run test", "error: unrecognized subcommand 'bun'"

    def call(command, state):
        failed = {"error": error} if state == "not started" else {}
        return {
            "tool": "shell:bun test", "args": {"command": command}, "ok": not failed, **failed,
            "checks": [{"kind": "test", "state": state, "line": command, "is_whole": True}],
        }  # fmt: skip

    outcomes = tmp_path / "outcomes.jsonl"
    outcomes.write_text(
        "".join(
            json.dumps(
                {
                    "task_id": f"t{number}", "success": True, "project": project,
                    "captured_from": "transcript", "metadata": {"session": f"s{number}"},
                    "tool_graph": [call(line, "not started"), call("bun run test", "passed")],
                }
            ) + "\n"
            for number in range(3)
        )
    )  # fmt: skip
    served.command("publish", str(outcomes))
    told = (
        f"`{line}` failed in each of the last 3 sessions here (unrecognized subcommand bun); "
        "`bun run test` then ran in 3."
    )
    failed = {"task": TASK, "failed_command": line, "error": error}

    async def not_told(client):
        deadline = time.monotonic() + PATIENCE_S
        while line in (await text_of(client, "recall", **failed))[0]:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)

    async def use():
        async with served.over_http(project=project) as client:
            text, found = await recalled(client, told, **failed)
            assert text.startswith(told)
            assert found["context"].startswith(told)
            _, found = await text_of(client, "recall", **failed, budget=50)
            assert len(told) / 4 < found["tokens"] <= 50  # what is told of the command counts, too
            # Whoever asks is answered each time; nothing is said of what did not fail.
            assert (await text_of(client, "recall", **failed))[1]["context"].startswith(told)
            for other in ({"task": TASK}, failed | {"failed_command": "bun run build"}):
                _, found = await text_of(client, "recall", **other)
                assert line not in found["context"].partition("\n")[0]
            mine = ("--project", project)
            known = json.loads(served.command("commands", "list", *mine, "--json"))
            broken = next(each["id"] for each in known if each["line"] == line)
            served.command("commands", "dismiss", broken, *mine)
            await not_told(client)
            served.command("commands", "restore", broken, *mine)
            await recalled(client, told, **failed)

    run(use)
