"""The plugin of opencode, run by the JavaScript engine of the machine if there is one."""

import json
import shutil
import subprocess

import pytest

from tests.capture.test_hook_script import door
from trackrecord_capture.agents.door_address import read_door, write_door
from trackrecord_capture.agents.hook_state import fired_at
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.agents.runtime import write_runtime
from trackrecord_capture.live.notes import waiting_notes

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node on this machine")

# Two requests of one session and one of another, which was never asked anything.
SCRIPT = """
import { Trackrecord } from "./trackrecord.mjs"
const hooks = await Trackrecord({ directory: "/src/shop" })
const session = { sessionID: "ses_1" }
const parts = [{ type: "text", text: "Fix it" }, { type: "text", text: "x", synthetic: true }]
await hooks["chat.message"](session, { message: { id: "msg_1" }, parts })
await hooks["chat.message"](session, { message: { id: "msg_2" }, parts })
const systems = []
for (const sessionID of ["ses_1", "ses_1", "ses_2"]) {
  const output = { system: ["own"] }
  await hooks["experimental.chat.system.transform"]({ sessionID }, output)
  systems.push(output.system)
}
for (const type of ["session.idle", "session.error", "session.updated"])
  await hooks.event({ event: { type, properties: session } })
await hooks.event({})
await hooks["chat.message"](undefined, undefined)
await hooks["experimental.chat.system.transform"](undefined, undefined)
console.log(JSON.stringify(systems))
"""


# Before the script: aborting a request ends it without an event, as in Bun, in which opencode runs.
AS_IN_BUN = """
import http from "node:http"
import { syncBuiltinESMExports } from "node:module"
const request = http.request
http.request = ({ signal, ...place }, answered) => request(place, answered)
syncBuiltinESMExports()
"""

# Outputs of tools, each as opencode hands it to its plugins.
OUTPUTS = """
import { Trackrecord } from "./trackrecord.mjs"
const hooks = await Trackrecord({ directory: "/src/shop" })
const session = { sessionID: "ses_1" }
const parts = [{ type: "text", text: "Fix it" }]
await hooks["chat.message"](session, { message: { id: "msg_1" }, parts })
const flood = "x".repeat(10001)
const outputs = [
  ["bash", { title: "t", output: flood, metadata: { exit: 1 } }],
  ["shop_search", { content: [{ type: "text", text: flood }, { type: "text", text: "y" }] }],
  ["bash", { output: "x".repeat(10000) }],
  ["read", { output: flood }],
  ["bash", { output: 7 }],
  ["bash", undefined],
]
for (const [tool, output] of outputs)
  await hooks["tool.execute.after"]({ ...session, tool, args: { command: "make" } }, output)
await hooks["tool.execute.after"](undefined, undefined)
console.log(JSON.stringify(outputs.map(([_, output]) => output ?? null)))
"""
FLOOD = "x" * 10_001


def _played(folder, plugin, *, is_patient):
    """Run the script beside a plugin; return what it printed."""
    assert "ASKING_MS = 500\n" in plugin
    # A busy machine may need longer than an agent would wait.
    waited = "ASKING_MS = 60000\n" if is_patient else "ASKING_MS = 500\n"
    (folder / "trackrecord.mjs").write_text(plugin.replace("ASKING_MS = 500\n", waited))
    done = subprocess.run(
        [NODE, "script.mjs"], cwd=folder, capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""
    return json.loads(done.stdout)


@pytest.fixture
def replace(home, tmp_path):
    """Hands the outputs to a plugin; returns what became of them."""
    write_runtime(home)
    (tmp_path / "script.mjs").write_text(OUTPUTS)

    def replace(*, summarises=True, is_patient=True):
        text = AGENTS["opencode"].text(home, summarises=summarises)
        return _played(tmp_path, text, is_patient=is_patient)

    return replace


@pytest.fixture
def play(home, tmp_path):
    """Plays the script with a plugin that writes to the home; returns the system prompts."""
    write_runtime(home)

    def play(*, is_patient=False, first=""):
        (tmp_path / "script.mjs").write_text(first + SCRIPT)
        text = AGENTS["opencode"].text(home)
        return _played(tmp_path, text, is_patient=is_patient)

    return play


def test_ends_leave_notes(home, play):
    """Of a turn and of an error; other events are nothing to it."""
    play()
    notes = [note for _, note in waiting_notes(home)]
    assert [note.event for note in notes] == ["session-idle", "session-error"]
    assert {(note.agent, note.session, note.folder) for note in notes} == {
        ("opencode", "ses_1", "/src/shop")
    }
    assert {"session-idle", "session-error"} <= set(fired_at(home, "opencode"))


def test_each_request_of_a_session_has_the_same_text(home, play):
    """It is asked for once, with the words of the person alone."""
    said = {"hookSpecificOutput": {"additionalContext": "a fact"}}
    with door(home, json.dumps(said).encode()) as asked:
        assert play(is_patient=True) == [["own", "a fact\n\na fact"]] * 2 + [["own"]]
    assert [body["hook_event_name"] for _, _, body in asked] == ["SessionStart", "UserPromptSubmit"]
    path, sent, body = asked[1]
    headers = {name.lower(): value for name, value in sent.items()}
    assert path == "/hooks/opencode"
    assert "authorization" not in headers
    assert (body["prompt"], body["prompt_id"], body["cwd"]) == ("Fix it", "msg_1", "/src/shop")


@pytest.mark.parametrize("first", ["", AS_IN_BUN], ids=["node", "as-in-bun"])
def test_a_door_that_does_not_answer_is_not_waited_for(home, play, first):
    """Half a second, and then without it, whichever engine runs the plugin."""
    with door(home, b"{}", pauses=True) as asked:
        assert play(first=first) == [["own"]] * 3
        assert asked


def test_without_a_home_it_does_nothing(home, play):
    """Nothing is made anew, and nothing is said."""
    shutil.rmtree(home)
    assert play() == [["own"]] * 3
    assert not home.exists()


UNCHANGED = [
    {"title": "t", "output": FLOOD, "metadata": {"exit": 1}},
    {"content": [{"type": "text", "text": FLOOD}, {"type": "text", "text": "y"}]},
    {"output": "x" * 10_000},
    {"output": FLOOD},
    {"output": 7},
    None,
]
SUMMARY = {"hookSpecificOutput": {"updatedToolOutput": "a summary"}}


def test_oversized_outputs_are_replaced(home, replace):
    """Of any tool but those that are asked for a text word by word; the exit status stays."""
    with door(home, json.dumps(SUMMARY).encode()) as asked:
        write_door(home, read_door(home), 10_000)
        outputs = replace()
    assert outputs[:2] == [
        {"title": "t", "output": "a summary", "metadata": {"exit": 1}},
        {"content": [{"type": "text", "text": "a summary"}, {"type": "text", "text": "y"}]},
    ]
    assert outputs[2:] == UNCHANGED[2:]
    handed_in = [body for _, _, body in asked if body["hook_event_name"] == "PostToolUse"]
    assert [body["tool_name"] for body in handed_in] == ["bash", "shop_search"]
    assert handed_in[0] == {
        "hook_event_name": "PostToolUse", "session_id": "ses_1", "cwd": "/src/shop",
        "prompt": "Fix it", "prompt_id": "msg_1", "tool_name": "bash", "command": "make",
        "output": FLOOD,
    }  # fmt: skip


def test_without_the_option_no_output_is_touched(home, replace):
    """Nor handed in."""
    with door(home, json.dumps(SUMMARY).encode()) as asked:
        write_door(home, read_door(home), 10_000)
        assert replace(summarises=False) == UNCHANGED
    assert not [body for _, _, body in asked if body["hook_event_name"] == "PostToolUse"]


@pytest.mark.parametrize(
    "answer",
    [b"", b"not JSON", b"[]", b"{}", b'{"hookSpecificOutput": {"updatedToolOutput": 7}}',
     json.dumps({"hookSpecificOutput": {"updatedToolOutput": "y" * 20_000}}).encode()],
)  # fmt: skip
def test_any_other_answer_leaves_the_output(home, replace, answer):
    """Whatever it is."""
    with door(home, answer):
        write_door(home, read_door(home), 10_000)
        assert replace() == UNCHANGED


def test_whatever_is_missing_the_output_is_left(home, replace):
    """A door that is slow, does not say its limit or is not there, and a home that is not."""
    with door(home, json.dumps(SUMMARY).encode(), pauses=True):
        write_door(home, read_door(home), 10_000)
        assert replace(is_patient=False) == UNCHANGED
    with door(home, json.dumps(SUMMARY).encode()):
        assert replace() == UNCHANGED
    assert replace() == UNCHANGED
    shutil.rmtree(home)
    assert replace() == UNCHANGED
