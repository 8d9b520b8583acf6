"""Oversized outputs that a hook may replace: stored whole and summarised, or left as they are."""

import json
import os
import re
import subprocess

import msgspec
import pytest

from tests.capture.made_runs import run_of
from tests.capture.test_hook_script import assert_silent, door, run
from trackrecord.artifacts.client import open_artifacts
from trackrecord.settings.settings import load_settings
from trackrecord_capture.agents.apply_plan import install, plan_install, plan_uninstall, uninstall
from trackrecord_capture.agents.door_address import DoorAddress, read_door, write_door
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.agents.runtime import runtime_folder
from trackrecord_capture.live.notes import waiting_notes
from trackrecord_capture.live.opening import live_of
from trackrecord_capture.outcome import task_id_of

KEY = "ghp_" + "a1B2" * 9
FLOOD = "12:00 INFO step\n" * 900 + f"12:01 ERROR token {KEY} was refused\n"
PROMPT = "Find out why the nightly job of the shop fails"


def posted(**fields):
    said = {
        "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": "/src/shop",
        "tool_name": "Bash", "command": "make test", "output": FLOOD,
    }  # fmt: skip
    return json.dumps(said | fields).encode()


def replaced(answer):
    said = msgspec.json.decode(answer)["hookSpecificOutput"]
    assert said["hookEventName"] == "PostToolUse"
    return said["updatedToolOutput"]


def test_an_oversized_output_is_stored_and_its_summary_answered(settings, live):
    """With the command that reads it back, the project and the task."""
    text = replaced(live.hook("opencode", posted(prompt=PROMPT, prompt_id="m1")))
    assert len(text) <= 500
    (kept,) = open_artifacts(settings, "shop").all()
    assert open_artifacts(settings, "shop").get(kept.id) == FLOOD.encode()
    assert text.startswith(f"[output kept as artifact {kept.id}: log, ")
    assert re.search(r"\nRead it: .*artifacts get --project shop ID --lines 1:100 ", text)
    assert kept.tool == "shell:make test"
    run = run_of(agent="opencode", session="s1", prompt="m1", instruction=PROMPT)
    assert kept.task_id == task_id_of(run, "shop")
    assert KEY not in kept.summary


def test_the_command_reads_it_back_in_another_shell(settings, live):
    """Wherever the agent stands, and whatever its own settings are."""
    text = replaced(live.hook("opencode", posted(cwd="/src/my shop")))
    (kept,) = open_artifacts(settings, "my shop").all()
    command = re.search("Read it: (.*) --lines 1:100 ", text)[1].replace(" ID", f" {kept.id}")
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=environment, cwd="/", capture_output=True, timeout=200,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, FLOOD.encode())


def test_the_task_is_remembered_where_the_hook_of_the_output_does_not_say_it(settings, live):
    """By the prompt's id; of another prompt nothing is known."""
    live.hook("claude-code", posted(
        hook_event_name="UserPromptSubmit", output=None, prompt=PROMPT, prompt_id="p1"
    ))  # fmt: skip
    live.hook("claude-code", posted(prompt_id="p1"))
    live.hook("claude-code", posted(prompt_id="p2", output=FLOOD + "x"))
    unknown, known = sorted(each.task_id for each in open_artifacts(settings, "shop").all())
    assert unknown == ""
    assert known.startswith("task:")


@pytest.mark.parametrize(
    "fields",
    [
        {"output": "x" * 10_000}, {"output": ""},
        {"output": "[output kept as artifact 00: log]" + FLOOD},
        {"command": "trackrecord artifacts get 3f2a --bytes 0:20000"},
        {"command": "cd x && TRACKRECORD_HOME=y trackrecord  artifacts  get 3f2a | cat"},
        {"cwd": ""}, {"cwd": "/src/" + "s" * 200},
    ],
)  # fmt: skip
def test_what_is_small_or_read_back_is_left(settings, home, live, fields):
    """Nothing is stored, and the agent goes on with what it has."""
    assert live.hook("opencode", posted(**fields)) is None
    assert list(home.glob("artifacts/*/*")) == []
    assert list(waiting_notes(home)) == []


@pytest.mark.parametrize("command", ["cat cart.py", "cd x && sed -n 1,400p cart.py", "nl cart.py"])
def test_a_source_file_that_a_command_shows_is_left(live, command):
    """An agent reads it word by word; a log that it shows is not one."""
    code = "".join(f"def part_{n}(price):\n    return price + {n}\n\n\n" for n in range(400))
    assert live.hook("opencode", posted(command=command, output=code)) is None
    assert live.hook("opencode", posted(command="make parts", output=code)) is not None
    assert live.hook("opencode", posted(command=command)) is not None


def test_of_a_single_line_no_lines_are_told_to_be_read(live):
    """They would be all of it."""
    text = replaced(live.hook("opencode", posted(output="x, " * 20_000)))
    assert text.endswith(" ID --bytes 0:9999")
    assert "--lines" not in text


def test_exact_bytes_that_were_read_back_are_left_once(settings, live):
    """Through whatever tool they came; the same output made anew is a new one."""
    open_artifacts(settings, "shop").put(FLOOD.encode())
    open_artifacts(settings, "shop").note_retrieved(FLOOD.encode())
    assert live.hook("opencode", posted(command="sh read.sh", output=FLOOD + "\n")) is None
    assert live.hook("opencode", posted(command="sh read.sh", output=FLOOD)) is not None


def test_the_limit_is_a_setting(home):
    """It is also told to the hooks, so that nothing smaller is handed in."""
    own = load_settings(home=home, artifacts={"threshold_chars": 600})
    assert live_of(own).hook("opencode", posted(output="y " * 400)) is not None
    started = live_of(own)
    started.start(DoorAddress("127.0.0.1", 1, "t" * 16))
    told = (runtime_folder(home) / "door").read_text().split("\n")
    assert told[:4] == ["127.0.0.1", "1", "t" * 16, "600"]
    assert read_door(home) == DoorAddress("127.0.0.1", 1, "t" * 16)
    started.stop()


def test_an_output_that_cannot_be_stored_is_left(home, live):
    """A full disk, say; `doctor` tells of it."""
    (home / "artifacts").write_text("a file stands where the folder should be")
    assert live.hook("opencode", posted()) is None


# Below: the hook's program, as Claude Code starts it.

BASH = {"stdout": FLOOD, "stderr": "", "interrupted": False, "isImage": False}


def called(response, **more):
    said = {"hook_event_name": "PostToolUse", "session_id": "a6a9-1", "cwd": "/src/p",
            "prompt_id": "p1", "tool_name": "Bash", "tool_input": {"command": "make"},
            "tool_response": response}  # fmt: skip
    return said | more


def summarising(home, answer="a summary", most=10_000, **more):
    """Open a door that answers with a summary, and says from which size on."""
    said = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": answer}}
    opened = door(home, json.dumps(said).encode(), **more)
    return opened, lambda: write_door(home, read_door(home), most)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (BASH, BASH | {"stdout": "a summary"}),
        ([{"type": "text", "text": FLOOD}], [{"type": "text", "text": "a summary"}]),
        (
            {"content": [{"type": "image", "data": ""}, {"type": "text", "text": FLOOD}]},
            {"content": [{"type": "image", "data": ""}, {"type": "text", "text": "a summary"}]},
        ),
    ],
)
def test_the_output_keeps_its_form(patient, response, expected):
    """Claude Code takes no other; only the text in it is a summary."""
    opened, tell = summarising(patient)
    with opened as asked:
        tell()
        done = run(patient, called(response))
    assert (done.returncode, done.stderr) == (0, b"")
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said == {"hookEventName": "PostToolUse", "updatedToolOutput": expected}
    ((path, _, body),) = asked
    assert path == "/hooks/claude-code"
    assert body == {
        "hook_event_name": "PostToolUse", "session_id": "a6a9-1", "cwd": "/src/p",
        "prompt_id": "p1", "tool_name": "Bash", "command": "make", "output": FLOOD,
    }  # fmt: skip
    assert list(waiting_notes(patient)) == []


@pytest.mark.parametrize(
    "response",
    [BASH | {"stdout": "x" * 10_000}, BASH | {"persistedOutputPath": "/src/x"}, FLOOD, None, 7, [],
     [7, {"text": 7}], {"content": 7}, {"stdout": None}, {"file": {"content": FLOOD}}],
)  # fmt: skip
def test_other_outputs_are_not_even_handed_in(patient, response):
    """Small ones, those that the agent keeps itself, and those of another form."""
    opened, tell = summarising(patient)
    with opened as asked:
        tell()
        assert_silent(run(patient, called(response)))
    assert asked == []


def test_a_door_that_does_not_say_its_limit_is_not_asked(patient):
    """As that of an older version."""
    opened, _ = summarising(patient)
    with opened as asked:
        assert_silent(run(patient, called(BASH)))
    assert asked == []


@pytest.mark.parametrize(
    ("answer", "status"), [(b"", 204), (b"{}", 200), (b"not JSON", 200), (b"[]", 200),
                           (b'{"hookSpecificOutput": {"updatedToolOutput": 7}}', 200),
                           (b'{"hookSpecificOutput": {"updatedToolOutput": "x"}}', 500)],
)  # fmt: skip
def test_any_other_answer_leaves_the_output(patient, answer, status):
    """Nothing is printed, so the agent keeps what it has."""
    with door(patient, answer, status=status):
        write_door(patient, read_door(patient), 10_000)
        assert_silent(run(patient, called(BASH)))


# Below: installation.


def test_outputs_are_replaced_only_where_somebody_asked_for_it(user, home):
    """What was chosen stays chosen; taking it back, and uninstalling, leaves nothing of it."""
    claude, opencode = AGENTS["claude-code"], AGENTS["opencode"]
    settings, plugin = user / ".claude/settings.json", opencode.plugin_path()

    def installed(summarises=None):
        for agent in (claude, opencode):
            install(agent, home, plan_install(agent, home, summarises=summarises))
            assert agent.is_installed(home)
        hooks = json.loads(settings.read_text())["hooks"]
        return bool(hooks.get("PostToolUse")), 'SUMMARISES = "yes"' in plugin.read_text()

    assert installed() == (False, False)
    assert installed(summarises=True) == (True, True)
    assert installed() == (True, True)
    (group,) = json.loads(settings.read_text())["hooks"]["PostToolUse"]
    assert group["matcher"] == "Bash|mcp__.*"
    assert not group["hooks"][0].get("async")
    assert installed(summarises=False) == (False, False)
    assert installed(summarises=True) == (True, True)
    for agent in (claude, opencode):
        uninstall(agent, home, plan_uninstall(agent, home))
    assert not settings.exists()
    assert not plugin.exists()


def test_codex_says_that_it_cannot(user, home):
    """Its hooks cannot replace outputs."""
    plan = plan_install(AGENTS["codex"], home, summarises=True)
    assert any("Codex lets no hook replace a tool's output" in note for note in plan.notes)
    plan = plan_install(AGENTS["codex"], home)
    assert not any("replace" in note for note in plan.notes)
