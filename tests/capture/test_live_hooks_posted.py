"""What hooks post to the front door, handed to what is live."""

import json

import msgspec
import pytest

from tests.prompt.advised import known_pattern as pattern
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.reading.cache import write_document
from trackrecord.settings.settings import load_settings
from trackrecord_capture.agents import hook
from trackrecord_capture.agents.door_address import DoorAddress, read_door
from trackrecord_capture.agents.hook_state import last_error
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.live.hook_answers import KINDS
from trackrecord_capture.live.notes import notes_folder, waiting_notes
from trackrecord_capture.live.opening import live_of


def posted(**fields):
    return json.dumps({"session_id": "s1", "cwd": "/src/shop", **fields}).encode()


def test_each_agent_has_its_hooks(live):
    """Also one whose sessions nobody can read."""
    assert set(live.hooks) == set(AGENTS)


def test_the_program_and_the_door_ask_and_answer_alike():
    """The program stands alone, so it repeats which events ask."""
    assert hook._ASKING == KINDS


def test_an_end_that_is_posted_leaves_the_note_of_the_program(home, live):
    """The agent gets nothing."""
    assert live.hook("claude-code", posted(hook_event_name="Stop", transcript_path="/t")) is None
    ((_, note),) = waiting_notes(home)
    assert (note.agent, note.event, note.session) == ("claude-code", "Stop", "s1")
    assert (note.transcript, note.folder) == ("/t", "/src/shop")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", posted(session_id=5), b"{}"])
def test_what_is_not_an_event_is_nothing(home, live, body):
    """It is neither noted nor answered, whatever it is."""
    assert live.hook("codex", body) is None
    assert not list(waiting_notes(home))


def test_a_home_that_cannot_be_written_is_not_the_agents_trouble(home, live):
    """It is said to `doctor`, as far as that can be."""
    notes_folder(home).write_text("a file stands where the folder should be")
    assert live.hook("codex", posted(hook_event_name="Stop")) is None
    assert "not answered" in last_error(home, "codex").says


def test_a_question_is_answered_in_the_form_that_agents_read(client, home, settings, live):
    """With the project of the folder, and with the project that a person has set for it."""
    for project in ("shop", "mine"):
        memories = RankingsDocument(project=project, revision=1, computed_at=1_800_000_000.0)
        write_document(client, settings, with_pattern(memories))
    said = msgspec.json.decode(live.hook("codex", posted(hook_event_name="SessionStart")))
    assert said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "in the project shop" in said["hookSpecificOutput"]["additionalContext"]
    # A folder that merely has the same name is another project, of which nothing is known.
    foreign = posted(hook_event_name="SessionStart", session_id="s3", cwd="/foreign/shop")
    assert live.hook("codex", foreign) is None
    mapped = load_settings(
        home=home, capture={"projects": [{"folder": "/src/shop", "project": "mine"}]}
    )
    question = posted(hook_event_name="SessionStart", session_id="s2")
    said = msgspec.json.decode(live_of(mapped).hook("codex", question))
    assert "in the project mine" in said["hookSpecificOutput"]["additionalContext"]


def test_nothing_is_said_in_a_folder_that_is_left_out(client, home, settings):
    """Nor is anything stored of it, whether its path or its project is named."""
    write_document(client, settings, with_pattern(RankingsDocument(
        project="shop", revision=1, computed_at=1_800_000_000.0)))  # fmt: skip
    for number, named in enumerate(("/src/shop", "shop", "/src")):
        live = live_of(load_settings(home=home, capture={"exclude": [named]}))
        question = posted(hook_event_name="SessionStart", session_id=f"s{number}")
        assert live.hook("codex", question) is None
        output = posted(tool_name="Bash", command="make", output="x\n" * 9000)
        assert live.hook("codex", output) is None


def with_pattern(document):
    return msgspec.structs.replace(document, patterns=(pattern("tests-first", 8, 0),))


def test_another_door_that_opened_meanwhile_stays_on_record(home, settings):
    """The one that closes takes back its own address only."""
    first, second = live_of(settings), live_of(settings)
    first.start(DoorAddress("127.0.0.1", 1))
    second.start(DoorAddress("127.0.0.1", 2, "t" * 16))
    first.stop()
    assert read_door(home) == DoorAddress("127.0.0.1", 2, "t" * 16)
    assert (home / "agents" / "door").stat().st_mode & 0o777 == 0o600
    second.stop()
    assert read_door(home) is None
