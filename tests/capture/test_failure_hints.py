"""What a hook answers right after a call failed: one line that the session can use, or nothing."""

import json
import time

import msgspec
import pytest

from tests.capture.test_hook_script import assert_silent, door, run
from tests.capture.test_live_hooks_posted import posted
from tests.producers.test_after_failure import remember, tried
from trackrecord.learning.advice.moments.calls import TriedCall
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.reading.cache import write_document
from trackrecord.settings.daemon_settings import HookSettings
from trackrecord.settings.effect_consent import note_effect_consent
from trackrecord.settings.settings import load_settings
from trackrecord.testing import captured
from trackrecord_capture.agents.hook_state import fired_at
from trackrecord_capture.live.notes import waiting_notes
from trackrecord_capture.live.opening import live_of
from trackrecord_capture.live.session_marks import SessionMarks

CALLS = [tried("rtk bun run test", "not started"), tried("bun run test")]
RAN = "`bun run test` then ran in 3."
ERROR = "error: unrecognized subcommand 'bun'"


@pytest.fixture
def known(client, settings):
    """Three sessions in which a launcher failed and the plain line then ran."""
    remember(client, settings, CALLS)


@pytest.fixture
def reports():
    """Captured reports, which go no further."""
    with captured() as reports:
        yield reports


@pytest.fixture
def live(settings, known, reports):
    return live_of(settings)


def failure(command="rtk bun run test", error=f"Exit code 2\n{ERROR}", **more):
    given = {
        "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": {"command": command}, "error": error,
    }  # fmt: skip
    return posted(**given | more)


def told(answer, event="PostToolUseFailure"):
    if answer is None:
        return ""
    said = msgspec.json.decode(answer)["hookSpecificOutput"]
    assert said["hookEventName"] == event
    return said["additionalContext"]


def test_a_failure_is_answered_once_for_a_session_and_agent(live):
    """A sub-agent has a context of its own."""
    text = told(live.hook("claude-code", failure()))
    assert text.startswith("trackrecord: `rtk bun run test` failed in each of the last 3 sessions")
    assert text.endswith(RAN)
    assert "\n" not in text
    assert live.hook("claude-code", failure()) is None
    assert told(live.hook("claude-code", failure(agent_id="explorer"))) == text
    assert told(live.hook("claude-code", failure(session_id="s2"))) == text


@pytest.mark.parametrize(
    "more",
    [
        {"cwd": "/src/another-project"},
        {"command": "ls /nowhere", "error": "Exit code 2\nls: /nowhere: No such file"},
        {"error": f"Exit code 2\n{ERROR}: did you mean `bun run test`?"},
        {"error": "Exit code 1\n2 failed, 12 passed in 0.3s"}, {"session_id": ""},
        {"tool_input": {}}, {"tool_input": {"command": 7}},
    ],
)  # fmt: skip
def test_nothing_is_answered_where_nothing_is_known_or_needed(live, more):
    """Nor of another project, where the error says it, or where the tests ran."""
    assert live.hook("claude-code", failure(**more)) is None
    assert live.hook("claude-code", failure(session_id="s2"))


def test_codex_has_no_exit_status_so_the_words_of_the_error_must_be_known(live):
    """An output that merely holds a word of errors is nothing."""
    event = {"hook_event_name": "PostToolUse"}
    fine = failure(error="error: 0 failed, 12 passed\n12 pass\n", **event)
    assert live.hook("codex", fine) is None
    said = failure(session_id="s2", error=f"{ERROR}\n", **event)
    assert told(live.hook("codex", said), "PostToolUse")


def test_a_shell_that_is_not_at_the_top_is_told_so(live, tmp_path):
    """Where the folder that it changes to lies at the top, and not where the shell is."""
    shop = tmp_path / "shop"
    for folder in (".git", "src", "web/src"):
        (shop / folder).mkdir(parents=True)
    error = "Exit code 1\n(eval):cd:1: no such file or directory: src"

    def answer(command, folder, session):
        asked = failure(command=command, error=error, cwd=str(shop / folder), session_id=session)
        return told(live.hook("claude-code", asked))

    assert answer("cd src && ls", "src", "s1") == (
        "trackrecord: The shell is in `src` of this repository; `src` lies at its top."
    )
    assert answer("cd src && ls", "web", "s2") == ""
    assert answer("cd lib && ls", "src", "s3") == ""
    assert answer("cd src && ls", "", "s4") == ""


def test_a_session_that_ran_its_tests_is_told_of_no_line(live):
    """As opencode's plugin knows it, with what has succeeded since the last failure."""
    given = {"tool_name": "bash", "exit_code": 2, "error": ERROR}
    assert live.hook("opencode", failure(ran=["bun run test"], **given)) is None
    assert told(live.hook("opencode", failure(session_id="s2", ran=["ls"], **given)))


TESTED = ("Bash", {"command": "bun run test"}, "12 pass")


def edited(name):
    """A call that edits a file of the shop."""
    return "Edit", {"file_path": f"/src/shop/{name}", "new_string": "x"}, "The file was updated."


def write(folder, *calls):
    """Write the transcript of a session that made these calls: tool, arguments, result."""
    log = folder / "projects" / "s1.jsonl"
    log.parent.mkdir(exist_ok=True)
    about = {"sessionId": "s1", "cwd": "/src/shop", "timestamp": "2026-11-21T19:21:33.169Z"}
    asked = {"role": "user", "content": "Fix it"}
    lines = [
        {
            "type": "user", "uuid": "u", "promptId": "p", "message": asked,
            "permissionMode": "default",
        }
    ]  # fmt: skip
    for number, (tool, given, said) in enumerate(calls, 1):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": said}
        lines += [
            {"type": "assistant", "uuid": f"a{number}", "parentUuid": lines[-1]["uuid"],
             "message": {"role": "assistant", "id": f"m{number}", "content": [use]}},
            {"type": "user", "uuid": f"r{number}", "parentUuid": f"a{number}",
             "message": {"role": "user", "content": [result]}},
        ]  # fmt: skip
    log.write_text("".join(json.dumps(each | about) + "\n" for each in lines))
    return log


def test_what_ran_is_read_from_the_sessions_log(live, tmp_path, monkeypatch):
    """Of Claude Code, from its transcript alone, and without the call itself."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    log = write(tmp_path, edited("a.py"), TESTED)
    assert live.hook("claude-code", failure(transcript_path=str(log))) is None
    write(tmp_path, ("Bash", {"command": "rtk bun run test"}, "12 pass"))
    assert told(live.hook("claude-code", failure(session_id="s2", transcript_path=str(log))))
    elsewhere = log.rename(tmp_path / "elsewhere.jsonl")
    assert told(live.hook("claude-code", failure(session_id="s3", transcript_path=str(elsewhere))))


def test_it_follows_what_is_learnt_within_a_long_session(client, settings, live):
    """The door holds the facts, and reads them again when they have changed."""
    assert told(live.hook("claude-code", failure()))
    remember(client, settings, [tried("rtk bun run test")], at=2.0)
    assert live.hook("claude-code", failure(agent_id="a")) is None


def test_a_turn_that_ends_unchecked_is_told_so_once_a_session(
    client, settings, tmp_path, monkeypatch, reports
):
    """Where most sessions check after such edits; half of the sessions, for who agreed to it."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    edit = TriedCall("edit", ok=True, file="cart.py")
    remember(client, settings, [edit, tried("bun run test")], sessions=5)
    live = live_of(settings)

    def answer(session, *calls, **more):
        stop = {"hook_event_name": "Stop", "remind": True, "session_id": session}
        said = live.hook(
            "claude-code", posted(transcript_path=str(write(tmp_path, *calls)), **stop)
        )
        return said and msgspec.json.decode(said)

    assert answer("s1", edited("a.py"), TESTED) is None
    assert answer("s1", TESTED, edited("notes.md")) is None
    reason = (
        "trackrecord: Nothing has checked the last edit (`a.py`); tests run with `bun run test` "
        "(in 5 of the last 5 sessions)."
    )
    assert answer("s1", TESTED, edited("a.py")) == {"decision": "block", "reason": reason}
    assert answer("s1", TESTED, edited("a.py")) is None
    (report,) = reports.hints
    assert (report.kind, report.check, report.given) == ("unchecked edit", "test", True)
    note_effect_consent(settings.home, is_given=True)
    told = [answer(f"t{number}", edited("a.py")) is not None for number in range(40)]
    assert [each.given for each in reports.hints[1:]] == told
    assert 8 < sum(told) < 32


@pytest.mark.parametrize(("moment", "recorded"), [("false", []), ("record", [(False, 0.0)])])
def test_it_can_be_turned_off(home, known, reports, moment, recorded):
    """Or be recorded only: what would have been told is known then."""
    live = live_of(load_settings(home=home, hooks=HookSettings(moment=moment)))
    assert live.hook("claude-code", failure()) is None
    assert [(each.given, each.probability) for each in reports.hints] == recorded
    assert all(each.text.endswith(RAN) for each in reports.hints)


def test_without_consent_nothing_is_left_to_chance(live, reports):
    """Everybody is told; it is recorded with its probability, and counts for no trial."""
    for number in range(20):
        assert told(live.hook("claude-code", failure(session_id=f"s{number}")))
    assert {(each.given, each.probability) for each in reports.hints} == {(True, 1.0)}
    assert {each.source for each in reports.hints} == {"claude-code"}


def test_with_consent_half_of_the_failures_are_told(home, live, reports):
    """Drawn by a hash of project, session, agent and entry: the same however often it is asked."""
    note_effect_consent(home, is_given=True)
    sessions = [f"s{number}" for number in range(100)]
    answers = [bool(live.hook("claude-code", failure(session_id=each))) for each in sessions]
    assert 30 < sum(answers) < 70
    assert [each.given for each in reports.hints] == answers
    assert {each.probability for each in reports.hints} == {0.5}
    assert len({each.hint_id for each in reports.hints}) == 100
    later = live_of(load_settings(home=home))
    assert [
        bool(later.hook("claude-code", failure(session_id=each))) for each in sessions
    ] == answers


def test_after_130_points_four_of_five_are_told(client, settings, live):
    """Less is left to chance once there is something to compare."""
    remember(client, settings, CALLS, at=4.0, points=130)
    note_effect_consent(settings.home, is_given=True)
    answers = [live.hook("claude-code", failure(session_id=f"t{n}")) for n in range(100)]
    assert 65 < sum(map(bool, answers)) < 95


def test_a_session_of_the_holdout_is_told_nothing(client, settings, known, reports):
    """It is compared with sessions that are handed everything."""
    document = RankingsDocument(project="shop", revision=1, computed_at=time.time(), holdout=0.9)
    write_document(client, settings, document)
    live = live_of(settings)
    answers = [told(live.hook("claude-code", failure(session_id=f"s{n}"))) for n in range(100)]
    assert 0 < sum(map(bool, answers)) < 40
    assert len(reports.hints) == sum(map(bool, answers))


CLAUDE = {
    "hook_event_name": "PostToolUseFailure", "session_id": "s1", "cwd": "/src/shop",
    "tool_name": "Bash", "tool_input": {"command": "make", "description": "x", "content": "y"},
    "tool_use_id": "toolu_1", "error": "Exit code 2\nmake: nothing", "is_interrupt": False,
}  # fmt: skip
ANSWER = {"hookSpecificOutput": {"hookEventName": "PostToolUseFailure", "additionalContext": "x"}}


def test_the_program_posts_a_failure_and_prints_the_answer(patient):
    """Of the arguments the command and the path alone."""
    with door(patient, json.dumps(ANSWER).encode()) as asked:
        done = run(patient, CLAUDE)
    assert json.loads(done.stdout) == ANSWER
    ((path, _, said),) = asked
    assert path == "/hooks/claude-code"
    assert said["tool_input"] == {"command": "make"}
    assert said["error"] == CLAUDE["error"]
    assert "PostToolUseFailure" in fired_at(patient, "claude-code")


def test_the_program_asks_at_the_end_of_a_turn_where_it_is_told_to(patient):
    """Never twice in a row, nor where the session was told; an end is noted all the same."""
    stop = CLAUDE | {"hook_event_name": "Stop", "stop_hook_active": False, "transcript_path": "/t"}
    said = {"decision": "block", "reason": "x"}
    with door(patient, json.dumps(said).encode()) as asked:
        assert_silent(run(patient, stop))
        assert json.loads(run(patient, stop, "claude-code remind").stdout) == said
        assert_silent(run(patient, stop | {"stop_hook_active": True}, "claude-code remind"))
        SessionMarks(patient).begin("claude-code", "s1", "stop")
        assert_silent(run(patient, stop, "claude-code remind"))
    ((_, _, body),) = asked
    assert (body["remind"], body["cwd"], body["transcript_path"]) == (True, "/src/shop", "/t")
    assert len(list(waiting_notes(patient))) == 4


@pytest.mark.parametrize(
    ("agent", "given"),
    [
        ("claude-code", {"is_interrupt": True}),
        ("claude-code", {"error": None}),
        ("claude-code", {"tool_input": "make"}),
        ("codex", {"hook_event_name": "PostToolUse", "tool_response": "12 passed"}),
        ("codex", {"hook_event_name": "PostToolUse", "tool_response": {"a": 1}}),
    ],
)
def test_the_program_asks_nothing_where_nothing_failed(patient, agent, given):
    """Or where nobody can say what."""
    with door(patient, json.dumps(ANSWER).encode()) as asked:
        assert_silent(run(patient, CLAUDE | given, agent))
    assert asked == []


def test_codex_is_asked_about_where_an_output_may_tell_of_an_error(patient):
    """It says of no command whether it failed."""
    given = {"hook_event_name": "PostToolUse", "tool_response": "make: *** No rule. Error 2"}
    with door(patient, json.dumps(ANSWER).encode()) as asked:
        assert run(patient, CLAUDE | given, "codex").stdout
    assert asked[0][2]["error"] == given["tool_response"]


@pytest.mark.parametrize(
    ("agent", "own", "response", "error", "status"),
    [
        ("gemini-cli", "AfterTool", {"llmContent": "Output: no\nExit Code: 2"}, None, 2),
        (
            "gemini-cli", "AfterTool", {"llmContent": "x", "error": {"message": "gone"}}, "gone",
            None,
        ),
        (
            "qwen-code", "PostToolUse",
            {"llmContent": "Command: make\nDirectory: x\nOutput: no\nExit Code: 127\nSignal: 0"},
            "no\nExit Code: 127\nSignal: 0", 127,
        ),
        (
            "qwen-code", "PostToolUseFailure",
            "Command: make\nDirectory: x\nOutput: (empty)\nExit Code: 127",
            "(empty)\nExit Code: 127", 127,
        ),
    ],
)  # fmt: skip
def test_agents_that_have_failures_in_their_responses(patient, agent, own, response, error, status):
    """A status, or an error; what went well is not asked about."""
    said_itself = response if isinstance(response, str) else None
    given = CLAUDE | {"hook_event_name": own, "tool_response": response, "error": said_itself}
    went_well = {"llmContent": "Output: Exit Code: 3\nExit Code: 0"}
    fine = given | {"tool_response": went_well, "error": None}
    with door(patient, json.dumps(ANSWER).encode()) as asked:
        said = json.loads(run(patient, given, agent).stdout)
        assert_silent(run(patient, fine, agent))
    assert said["hookSpecificOutput"]["hookEventName"] == own
    ((_, _, posted),) = asked
    assert posted["error"] == (error or response["llmContent"])
    assert posted.get("exit_code") == status
