"""From a run to its outcome: what is kept, bounded and without secrets."""

from functools import partial

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.made_runs import run_of, shell
from trackrecord.errors import SettingsError
from trackrecord.learning.text.hints import HINT_MARK, without_hints
from trackrecord.settings.capture_rules import CaptureRules
from trackrecord.settings.setting_values import read_values
from trackrecord.wire.outcome import MAX_BODY_BYTES, decode_outcome, encode_body
from trackrecord.wire.tried_calls import tried_digest
from trackrecord_capture.agent_run import RunCall, Signal, SignalKind
from trackrecord_capture.call_fields import LONGEST_ERROR, kept_error
from trackrecord_capture.outcome import outcome_of, task_id_of, tried_calls_of
from trackrecord_capture.shell.checks import checks_of
from trackrecord_capture.shell.purposes import own_checks

EDIT = RunCall(tool="Edit", ok=True, edits=("/src/p/a.py",), arguments={"file_path": "/src/p/a.py"})
PASS = RunCall(tool="Bash", command="uv run pytest", ok=True, exit_code=0, result="3 passed")


_run = partial(
    run_of, started_at=1000.0, ended_at=1009.5, folder="/src/p",
    instruction="Fix the failing tests of the parser",
)  # fmt: skip


@pytest.mark.parametrize("name", ["mcp__trackrecord__{}", "trackrecord_{}", "trackrecord:{}"])
def test_asking_trackrecord_is_no_step_of_the_work(name):
    """Its calls are left out; what was seen at the others stays with them."""
    asked = RunCall(tool=name.format("recall"), ok=True)
    said = RunCall(tool=name.format("remember"), ok=False)
    undone = Signal(kind=SignalKind.REJECTED, call=2, says="not that file")
    with_ours = outcome_of(_run(asked, PASS, EDIT, said, signs=(undone,)))
    without = outcome_of(_run(PASS, EDIT, signs=(msgspec.structs.replace(undone, call=1),)))
    assert with_ours == without
    assert len(with_ours["tool_graph"]) == 2


def test_the_fields_of_an_outcome():
    """Everything that is known, and nothing else."""
    failed = RunCall(
        tool="Bash", id="t1", command="cd /src/p && uv run pytest", ok=False, exit_code=1,
        error="Exit code 1\n1 failed", started_at=1001.0, duration_ms=250.0,
    )  # fmt: skip
    run = _run(failed, EDIT, PASS, branch="main", model="m", tokens_in=5, commits=("1a2b3c4", "x"))
    fields = outcome_of(run)
    assert fields["outcome_id"] == "claude-code:s:p"
    assert fields["project"] == "p"
    assert (fields["success"], fields["outcome_source"]) == (True, "tests")
    assert (fields["timestamp"], fields["duration_ms"], fields["error_count"]) == (1009.5, 9500, 0)
    assert fields["source"] == "claude-code"
    assert fields["instruction"] == "Fix the failing tests of the parser"
    assert [call["tool"] for call in fields["tool_graph"]] == [
        "shell:pytest", "Edit", "shell:pytest",
    ]  # fmt: skip
    assert fields["tool_graph"][0] == {
        "tool": "shell:pytest", "id": "t1", "args": {"command": "cd /src/p && uv run pytest"},
        "ok": True, "result": "Exit code 1\n1 failed", "duration_ms": 250.0, "timestamp": 1001.0,
        "checks": [
            {"kind": "test", "state": "ran", "line": "uv run pytest", "is_whole": True},
        ],
    }  # fmt: skip
    assert fields["files_touched"] == ["a.py"]
    assert fields["cost"] == {"tokens_in": 5}
    assert fields["commits"] == ["1a2b3c4"]
    assert fields["captured_from"] == "transcript"
    assert fields["grounds"][0] == {
        "kind": "check passed", "says": "pytest: 3 passed", "call": 2,
    }  # fmt: skip
    assert fields["metadata"] == {
        "session": "s", "prompt": "p", "folder": "p", "branch": "main", "model": "m",
    }  # fmt: skip
    decode_outcome(encode_body(fields))


def test_a_run_without_a_verdict():
    """`success` is there and says that nothing is known."""
    fields = outcome_of(_run(EDIT))
    assert fields["success"] is None
    assert "outcome_source" not in fields
    assert fields["grounds"][0]["kind"] == "no check"


@pytest.mark.parametrize(("tool", "result", "kept"), [
    ("Glob", "No files found", "no files"), ("glob", "", "no files"),
    ("Glob", "src/AGENTS.md", "files"), ("Grep", "No files found", None),
    ("Glob", "No files here are old: src/a.md\nsrc/b.md", "files"),
])  # fmt: skip
def test_a_search_for_files_that_found_none_is_kept(tool, result, kept):
    """By what it looked for and that there was none; of no other search anything."""
    call = RunCall(tool=tool, arguments={"pattern": "**/AGENTS.md"}, ok=True, result=result)
    (made,) = outcome_of(_run(call))["tool_graph"]
    assert made.get("result") == kept
    ((_, tried),) = tried_calls_of(_run(call))
    assert (tried.sought, tried.found) == ("**/AGENTS.md" if kept else "", kept != "no files")


def test_a_search_whose_arguments_are_no_object_is_no_fault():
    """Its run is learnt; what was looked for is not known."""
    call = {"tool": "Glob", "args": "**/*.md", "ok": True, "result": "no files"}
    run = {"task_id": "a", "success": True, "captured_from": "hooks", "tool_graph": [call]}
    assert not tried_digest(decode_outcome(encode_body(run)))


def test_a_failure_names_its_kind_and_its_error():
    """The call that decided tells the details."""
    failed = RunCall(tool="Bash", command="pytest", ok=False, exit_code=1, error="1 failed")
    fields = outcome_of(_run(EDIT, failed))
    assert fields["failure_mode"] == "check failed"
    assert fields["failure_details"] == "1 failed"


def test_pytests_frame_is_left_out_of_an_error():
    """What was raised is the error."""
    said = (
        "==== ERRORS ====\n____ ERROR collecting test_cart.py ____\ntest_cart.py:1: in <module>\n"
        "    import cart\nE   ModuleNotFoundError: No module named 'cart'\n"
        "==== short test summary info ====\nERROR test_cart.py\n==== 1 error in 0.09s ====\n"
    )
    call = RunCall(tool="Bash", command="pytest", ok=False, exit_code=2, error=said)
    assert kept_error(call) == "ModuleNotFoundError: No module named 'cart'"
    other = RunCall(tool="Bash", command="pytest", ok=False, error="E is not defined\nfailed")
    assert kept_error(other) == "E is not defined\nfailed"


def test_the_content_of_files_is_never_kept():
    """Neither what was written nor what was read, nor what a failed edit repeats of it."""
    body = "SENTINEL body of a file"
    calls = (
        RunCall(tool="Write", ok=True, arguments={"file_path": "/src/p/a", "content": body}),
        RunCall(tool="Edit", ok=False, error=f"String not found in file.\nString: {body}",
             arguments={"file_path": "/src/p/a", "old_string": body, "new_string": body}),
        RunCall(tool="MultiEdit", ok=True, arguments={"edits": [{"old_string": body}]}),
        RunCall(tool="Read", ok=True, arguments={"file_path": "/src/p/a"}, result=body),
        RunCall(tool="Bash", ok=True, command=f"cat > a.py <<'E'\n{body}\nE\npytest", result=body),
        RunCall(tool="apply_patch", ok=True, arguments={"patch": body}, edits=("/src/p/a",)),
    )  # fmt: skip
    fields = outcome_of(_run(*calls))
    assert b"SENTINEL" not in encode_body(fields)
    assert fields["tool_graph"][2]["args"] == {"edits": []}


def test_prompts_can_be_left_out():
    """Neither the prompt nor the next one nor a sub-agent's is in the outcome then."""
    run = _run(
        RunCall(tool="Task", ok=True, arguments={"prompt": "SENTINEL do it", "subagent_type": "x"}),
        instruction="SENTINEL fix the parser of the thing",
        signs=(Signal(kind=SignalKind.FOLLOWED_BY, says="That's wrong, SENTINEL"),),
    )
    assert b"SENTINEL" in encode_body(outcome_of(run))
    fields = outcome_of(run, CaptureRules(prompts=False))
    assert b"SENTINEL" not in encode_body(fields)
    assert fields["success"] is False


def test_a_project_names_its_own_checks():
    """In one line of the settings; the verdict rests on them, and they give calls their names."""
    line = "cd api && ./dev verify --fast; echo done"
    call = RunCall(tool="Bash", command="./dev verify --fast", ok=False, exit_code=1)
    told = CaptureRules(checks=("./dev verify", "lint: ./dev tidy"))
    assert outcome_of(_run(EDIT, call))["success"] is None
    fields = outcome_of(_run(EDIT, call), told)
    assert (fields["success"], fields["outcome_source"]) == (False, "tests")
    own = own_checks(told.checks)
    found = [checks_of(each, own=own) for each in (line, "uv run ./dev tidy", "./dev deploy")]
    assert [[check.purpose for check in each] for each in found] == [["check"], ["lint"], []]
    with pytest.raises(SettingsError, match="50 lines"):
        read_values(CaptureRules, {"checks": [""]})


@pytest.mark.parametrize("said", ["Exit code 1", "Exit code 1\n1 failed, 2 passed in 0.1s"])
def test_a_hint_of_ours_is_nothing_that_the_tool_said(said: str):
    """The outcome is as if no hint stood in the output, however the client wraps it."""
    hints = (
        f"{HINT_MARK}tests ran in this repository with `uv run pytest`; 3 failed before.",
        f"<system-reminder>PostToolUse:Bash hook additional context: {HINT_MARK}`a` failed.",
        f"  {HINT_MARK}error: No such file or directory: a.py",
    )
    plain = RunCall(tool="Bash", command="pytest", ok=False, error=said, result=said)
    for hint in hints:
        text = f"{said}\n{hint}"
        hinted = msgspec.structs.replace(plain, error=text, result=text)
        with_hint, without = (outcome_of(_run(EDIT, each)) for each in (hinted, plain))
        kept = [each["tool_graph"][1] for each in (with_hint, without)]
        assert kept[0] == kept[1]
        assert with_hint["success"] == without["success"]
    said_by_it = f"make: {HINT_MARK}is the name of a target"
    assert without_hints(said_by_it) == said_by_it


def test_what_a_person_says_with_a_refusal_can_be_left_out():
    """It is as much theirs as the prompt; that they refused stays."""
    refused = RunCall(
        tool="Edit", ok=False, error="The user said:\nno, SENTINEL", result="SENTINEL"
    )
    signs = (
        Signal(kind=SignalKind.REJECTED, call=0, says="no, SENTINEL"),
        Signal(kind=SignalKind.UNDONE, says="back to SENTINEL"),
    )
    fields = outcome_of(_run(refused, signs=signs), CaptureRules(prompts=False))
    assert b"SENTINEL" not in encode_body(fields)
    assert [ground["kind"] for ground in fields["grounds"]] == ["undone", "rejected"]
    assert fields["tool_graph"][0]["error"] == "refused by the person"
    command = msgspec.structs.replace(refused, command="rm SENTINEL.txt")
    kept = outcome_of(_run(command, signs=signs[:1]))
    assert "no, SENTINEL" in kept["tool_graph"][0]["error"]


def test_a_long_run_keeps_its_beginning_and_its_end():
    """At most 400 calls, and the grounds still point at the right one."""
    calls = [RunCall(tool="Read", id=str(number), ok=True) for number in range(1000)]
    fields = outcome_of(_run(*calls, EDIT, PASS))
    graph = fields["tool_graph"]
    assert [graph[place].get("id") for place in (0, 199, 200)] == ["0", "199", "802"]
    assert fields["tool_graph"][fields["grounds"][0]["call"]]["tool"] == "shell:pytest"
    assert fields["metadata"]["calls"] == 1002


@pytest.mark.parametrize("letter", ["测", "\x01"])
def test_an_outcome_is_always_far_smaller_than_a_megabyte(letter: str):
    """Whatever a run holds."""
    huge = letter * 5_000
    calls = [
        RunCall(tool=huge, id=huge, ok=False, error=huge, actor=huge,
             arguments={f"{letter}{n}": huge[:500] for n in range(50)}, edits=(huge, f"{n}"))
        for n in range(120)
    ]  # fmt: skip
    run = _run(
        *calls, instruction=huge, branch=huge, model=huge, name=huge, folder="/" + huge, agent=huge,
        signs=tuple(Signal(kind=SignalKind.EVALUATED, success=True, says=huge) for _ in range(50)),
    )  # fmt: skip
    body = encode_body(outcome_of(run))
    assert len(body) < MAX_BODY_BYTES * 3 / 4
    decode_outcome(body)


def _task(instruction: str, session: str = "s", project: str = "p") -> str:
    return task_id_of(_run(instruction=instruction, session=session), project)


def test_the_same_prompt_is_the_same_task():
    """In one project, in whichever session; but short prompts ask for something else each time."""
    prompt = "Fix the failing tests of the parser"
    assert _task(prompt) == _task("  fix the failing\ntests of the PARSER ", "other")
    assert _task(prompt) != _task(prompt, project="q")
    assert _task("continue") != _task("continue", "other")
    assert _task("继续吧") != _task("继续吧", "other")
    assert _task("修复解析器里失败的测试") == _task("修复解析器里失败的测试", "other")
    assert _task("") == "claude-code:s:p"


SECRET = "ghp_Zq9Zq9Zq9Zq9Zq9Zq9Zq9Zq9Zq9Zq9Zq9Zq9"  # noqa: S105 - it is no one's
PLANTS = st.sampled_from(
    [
        SECRET, f"export TOKEN={SECRET}", "password=hunterZq9Zq9", "--password hunterZq9Zq9",
        '{"secret": "hunterZq9Zq9"}', "https://bob:hunterZq9Zq9@example.com/x",
        "Authorization: Bearer hunterZq9Zq9",
        "-----BEGIN PRIVATE KEY-----\nhunterZq9Zq9\n-----END PRIVATE KEY-----",
    ]
)  # fmt: skip


@given(PLANTS, PLANTS, st.integers(0, 2000))
def test_no_secret_is_in_an_outcome(one: str, other: str, blanks: int):
    """Wherever a run holds it: prompt, command, arguments, errors, results, grounds, paths."""
    text = " " * blanks + f"x {one} {other} y"
    calls = (
        RunCall(tool="Bash", command=text, ok=False, exit_code=1, error=text, result=text),
        RunCall(tool="Bash", command=f"{text} && pytest", ok=False, exit_code=1, result=text),
        RunCall(
            tool=text, id=text, ok=False, error=text, arguments={"a": {"b": [text]}, text: text}
        ),
        RunCall(tool="Edit", ok=True, edits=(f"/src/p/{text}",), actor=text, arguments=text),
    )
    signs = tuple(Signal(kind=kind, success=False, says=text) for kind in SignalKind)
    run = _run(*calls, instruction=text, branch=text, model=text, name=text, signs=signs,
               folder=f"/src/{text}", repository=text)  # fmt: skip
    body = encode_body(outcome_of(run))
    assert b"Zq9Zq9" not in body
    # The body is whole even so.
    assert msgspec.json.decode(body)["outcome_id"] == "claude-code:s:p"


@pytest.mark.parametrize(
    ("command", "exit_code", "result"),
    [
        ("grep -rn total src", 1, ""), ("cat cart.py | grep total", 1, ""),
        ("echo '== cart'; grep total cart.py", 1, "== cart"),
        ("diff a.py b.py", 1, "1c1\n< a\n---\n> b"), ("git diff --exit-code", 1, "-a\n+b"),
        ("[ -f cart.py ] && cat cart.py", 1, ""), ("sudo timeout 5 grep -q total cart.py", 1, ""),
        ("which pytest", None, "exit code 1"),
        ("gh pr checks 12 2>&1 | cat", 1, "E2E\tfail\t2m13s\turl\nBuild\tpass\t40s\turl"),
        ("cd web && gh pr checks", 8, "E2E\tpending\t0\turl"),
    ],
)  # fmt: skip
def test_a_search_without_a_hit_is_no_failed_call(command: str, exit_code: int | None, result: str):
    """Exit status 1 is its answer: the call counts as no error and as no failure."""
    call = RunCall(
        tool="Bash", command=command, ok=False, exit_code=exit_code, error="x", result=result
    )
    fields = outcome_of(_run(call))
    assert fields["error_count"] == 0
    assert fields["tool_graph"][0]["ok"] is True
    assert "error" not in fields["tool_graph"][0]


@pytest.mark.parametrize(
    ("command", "exit_code", "result"),
    [
        ("grep total gone.py", 2, "grep: gone.py: No such file or directory"),
        ("cd gone && grep total cart.py", 1, "bash: line 1: cd: gone: No such file or directory"),
        ("make deploy && grep total log", 1, "deploying\nerror: denied"),
        ("grep total cart.py && pytest", 127, "bash: pytest: command not found"),
        ("find gone", 1, "find: 'gone': No such file or directory"),
        ("git diff --no-such-option", 129, "error: invalid option: --no-such-option"),
        ("echo x | python app.py", 1, ""),
        ("grep -n total cart.py; exit 1", 1, "3: total"),
        ("gh pr checks --json conclusion", 1, 'Unknown JSON field: "conclusion"'),
        ("gh pr checks 12", 4, "To get started with GitHub CLI, please run: gh auth login"),
        ("grep total cart.py", 8, ""),
    ],
)
def test_what_goes_wrong_beside_a_search_is_a_failed_call(
    command: str, exit_code: int, result: str
):
    """Another status, words of an error, or a command that fails for itself stay failures."""
    call = RunCall(tool="Bash", command=command, ok=False, exit_code=exit_code, result=result)
    fields = outcome_of(_run(call))
    assert fields["error_count"] == 1
    assert fields["tool_graph"][0]["ok"] is False


@pytest.mark.parametrize(
    "call",
    [
        shell("pytest", 1, "E   assert 1 == 2\n1 failed, 2 passed in 0.1s"),
        shell("cd x && npm test", 1, "Error: Cannot find module './cart'\n2 failing"),
        shell(
            "uv run mypy .", 1, "a.py:3: error: Name 'x' is not defined\nFound 1 error in 1 file"
        ),
        shell("ruff check && pytest", 1, "a.py:1:8: F401 `os` is unused\nFound 1 error."),
        shell("cargo build", 101, "error[E0425]: cannot find value `x` in this scope"),
        shell("make check", 2, "it went wrong"),
        RunCall(tool="run_tests", ok=False, error="tests/test_a.py FAILED\n1 failed, 2 passed"),
    ],
)
def test_what_a_check_found_is_no_failure_of_its_call(call: RunCall):
    """It ran, so that the call succeeded, and has a result; the run failed by it."""
    fields = outcome_of(_run(call))
    assert (fields["success"], fields["error_count"]) == (False, 0)
    kept = fields["tool_graph"][0]
    assert (kept["ok"], kept["result"]) == (True, kept_error(call))
    assert "error" not in kept


@pytest.mark.parametrize(
    "call",
    [
        shell("pytest", 127, "bash: line 1: pytest: command not found"),
        shell("python -m pytest", 1, "/usr/bin/python: No module named pytest"),
        shell("npm test", 1, 'npm error Missing script: "test"'),
        shell("npm run lint", 1, "> eslint .\nsh: 1: eslint: not found\nnpm error code 1"),
        shell(
            "rtk bun run test", 2, "error: unrecognized subcommand 'run'\n\nUsage: rtk [OPTIONS]"
        ),
        shell("npx jest --parallel", 1, "error: unknown option '--parallel'"),
        shell("docker build .", 1, "ERROR: Cannot connect to the Docker daemon at unix:///x.sock"),
        shell("pytest", 137, "Killed"),
        shell("make build && ./deploy.sh", 1, "deploying\ndenied"),
        RunCall(tool="run_tests", ok=False, error="connection refused"),
    ],
)
def test_a_check_that_did_not_start_is_a_failed_call(call: RunCall):
    """It found nothing; nor is it told by what runs behind a check."""
    fields = outcome_of(_run(call))
    assert fields["error_count"] == 1
    assert (fields["tool_graph"][0]["ok"], fields["tool_graph"][0]["error"]) == (
        False, kept_error(call),
    )  # fmt: skip


@pytest.mark.parametrize(
    "call",
    [
        RunCall(tool="Read", ok=False, error="Sibling tool call errored"),
        RunCall(tool="Edit", ok=False, edits=("/src/p/a.py",),
                error="<tool_use_error>Cancelled: parallel tool call errored</tool_use_error>"),
        RunCall(tool="Bash", command="grep -n tax a.py", ok=False, error="Shell command failed"),
    ],
)  # fmt: skip
def test_how_a_call_ended_may_not_be_known(call: RunCall):
    """It was cancelled, or a search whose status is not known: neither an error nor a success."""
    fields = outcome_of(_run(call))
    assert fields["error_count"] == 0
    assert not {"ok", "error"} & fields["tool_graph"][0].keys()
    assert "files_touched" not in fields


def test_the_line_that_tells_is_kept():
    """Of a long error it may stand anywhere."""
    lines = [f"step {n} of the build is done" for n in range(200)]
    lines[77] = "fatal: could not read the lock  file"
    call = RunCall(
        tool="Bash", command="./deploy.sh", ok=False, exit_code=1, error="\n".join(lines)
    )
    kept = kept_error(call)
    assert kept.startswith("fatal: could not read the lock file\n")
    assert kept.endswith("step 199 of the build is done")
    assert len(kept) <= LONGEST_ERROR
    short = RunCall(tool="Bash", command="./deploy.sh", ok=False, error="\n".join(lines[70:80]))
    assert kept_error(short).startswith("step 70 ")


def test_every_call_that_the_verdict_rests_on_is_kept_and_named():
    """In the middle of a long run it is kept as well, and its ground has its position."""
    look = RunCall(tool="Read", ok=True)
    checks = [
        RunCall(tool="Bash", command=f"pytest tests/{at}", ok=True, exit_code=0) for at in range(30)
    ]
    fields = outcome_of(_run(*[look] * 300, *checks, *[look] * 300))
    graph = fields["tool_graph"]
    named = [ground["call"] for ground in fields["grounds"]]
    assert [graph[at]["args"]["command"] for at in sorted(named)] == [
        f"pytest tests/{at}" for at in range(30)
    ]
    assert {ground["kind"] for ground in fields["grounds"]} == {"check passed"}
