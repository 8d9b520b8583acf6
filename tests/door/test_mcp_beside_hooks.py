"""Agents that ask over the Model Context Protocol cost hooks and memory nothing until they do."""

import threading

ACCEPTED = {"accept": "application/json, text/event-stream"}


def ask(door, method, **params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with door.client(timeout=120) as client:
        return client.post("/mcp", json=body, headers=ACCEPTED).json()["result"]


def test_hooks_are_answered_while_the_sdk_is_imported(door):
    """It takes half a second, with the first request; until then it takes no memory either."""
    assert door.rss_mib() < 80
    answered, still_waiting = [], 0
    asking = threading.Thread(target=lambda: answered.append(ask(door, "ping")))
    with door.client(timeout=120) as client:
        client.post("/hooks/tester", json={})
        asking.start()
        while not answered:
            assert client.post("/hooks/tester", json={}).status_code == 200
            still_waiting += not answered
    asking.join()
    assert answered == [{}]
    assert still_waiting >= 5


def test_it_works_without_the_database(door):
    """Recalling asks Redis alone, which is away here, too; no report is lost, even by a kill.

    It is on disk before the agent gets its answer.
    """
    home = door.log_file.parent
    for tool, arguments, is_error in (
        ("recall", {"task": "fix the build"}, True),
        ("remember", {"text": "The cart rounds to whole cents"}, False),
        ("report_outcome", {"task_id": "build-4711", "success": True}, False),
    ):
        result = ask(door, "tools/call", name=tool, arguments=arguments)
        assert result["isError"] is is_error, result
        (line,) = result["content"][0]["text"].splitlines()
        assert "redis is unavailable" in line
        assert is_error or "redis" in result["structuredContent"]["problem"]
    door.process.kill()
    door.process.wait()
    kept = [path.read_text() for path in (home / "spool").rglob("*") if path.is_file()]
    assert "whole cents" in "".join(kept)
    assert "build-4711" in "".join(kept)
    assert not list(home.glob("*.db"))
