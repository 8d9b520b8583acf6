"""The plugin of opencode, run by the JavaScript engine of the machine if there is one."""

import json
import shutil
import subprocess

import pytest
from test_hook_script import door

from trackrecord_capture.agents.hook_state import fired_at
from trackrecord_capture.agents.opencode import plugin
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


@pytest.fixture
def play(home, tmp_path):
    """Plays the script with a plugin that writes to the home; returns the system prompts."""
    write_runtime(home)
    (tmp_path / "script.mjs").write_text(SCRIPT)

    def play(*, is_patient=False):
        text = plugin(home)
        assert "ASKING_MS = 500\n" in text
        # A busy machine may need longer than an agent would wait.
        waited = "ASKING_MS = 60000\n" if is_patient else "ASKING_MS = 500\n"
        (tmp_path / "trackrecord.mjs").write_text(text.replace("ASKING_MS = 500\n", waited))
        done = subprocess.run(
            [NODE, "script.mjs"], cwd=tmp_path, capture_output=True, check=True, timeout=60
        )
        assert done.stderr == b""
        return json.loads(done.stdout)

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
    with door(home, json.dumps(said).encode(), token="s" * 20) as asked:
        assert play(is_patient=True) == [["own", "a fact\n\na fact"]] * 2 + [["own"]]
    assert [body["hook_event_name"] for _, _, body in asked] == ["SessionStart", "UserPromptSubmit"]
    path, sent, body = asked[1]
    headers = {name.lower(): value for name, value in sent.items()}
    assert path == "/hooks/opencode"
    assert headers["authorization"] == f"Bearer {'s' * 20}"
    assert (body["prompt"], body["prompt_id"], body["cwd"]) == ("Fix it", "msg_1", "/src/shop")


def test_a_door_that_does_not_answer_is_not_waited_for(home, play):
    """Half a second, and then without it."""
    with door(home, b"{}", pauses=True):
        assert play() == [["own"]] * 3


def test_without_a_home_it_does_nothing(home, play):
    """Nothing is made anew, and nothing is said."""
    shutil.rmtree(home)
    assert play() == [["own"]] * 3
    assert not home.exists()
