"""What is known at the moment of a failure, and the one sentence that it deserves."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.moments.calls import (
    TriedCall,
    TriedCheck,
    TriedRun,
    keys_of,
    told_line,
    work_of,
)
from trackrecord.learning.advice.moments.commands import (
    CommandState,
    command_id,
    commands_of,
)
from trackrecord.learning.advice.moments.facts import MomentDocument, decode_moments, encode_moments
from trackrecord.learning.advice.moments.hints import (
    HintKind,
    SessionCalls,
    hint_after,
    standing_lines,
)
from trackrecord.learning.advice.moments.history import CallHistory
from trackrecord.learning.advice.moments.wording import named_text, names_in, never_text, usual_text
from trackrecord.learning.numbers.speaker_names import LOCAL

DAY = 86_400.0
# 7 March 2026, at noon.
NOW = 1_772_884_800.0
ERROR = "error: unrecognized subcommand 'bun'"


def check(line, state="passed", *, kind="test", whole=True, error=ERROR, ok=None):
    """A call of a shell that runs one check."""
    failed = state == "not started"
    return TriedCall(
        tool=f"shell:{line.split()[-1]}", ok=not failed if ok is None else ok, line=line,
        error=error if failed else "", checks=(TriedCheck(kind, state, line, whole),),
    )  # fmt: skip


def shell(line, *, ok=True, error="", tool=""):
    """Any other call of a shell."""
    name = tool or f"shell:{line.split()[0]}"
    return TriedCall(tool=name, ok=ok, line=line, error=error)


def opened(path, *, ok=True, error=""):
    """A call of a tool for files."""
    return TriedCall(tool="Read", ok=ok, file=path, error=error)


def sessions(*each, machine="", start=0):
    """One run a session, an hour after another."""
    return [
        TriedRun(
            outcome=start + number, session=f"s{start + number}", machine=machine,
            ended_at=NOW - DAY + 3600 * (start + number), calls=tuple(calls), speaker=LOCAL,
        )
        for number, calls in enumerate(each)
    ]  # fmt: skip


def counted(runs):
    """The facts of runs."""
    history = CallHistory()
    for run in runs:
        history.add(run)
    return history.facts()


def cached(facts):
    """Facts, as they come out of the cache."""
    read = decode_moments(encode_moments(MomentDocument(repositories={"": facts}, points=3)))
    assert read.points == 3
    return read.of("")


def known(runs):
    """The facts of runs, as they come out of the cache."""
    return cached(counted(runs))


def hints(runs, *calls, machine="", agent=""):
    """Return the hints of a new session, call by call."""
    facts, state, told = known(runs), SessionCalls(id="new"), []
    for call in calls:
        state.add(call)
        hint = hint_after(facts, call, call.error, state, machine=machine, agent=agent, now=NOW)
        if hint is not None:
            state.note(hint, agent)
            told.append(hint)
    return told


RTK, BUN = check("rtk bun run test", "not started"), check("bun run test")


def test_the_line_that_runs_is_told_from_one_session_on():
    """With its sessions, its times and its last day; the failing line with its streak."""
    runs = sessions([BUN, BUN], [RTK], [RTK])
    (hint,) = hints(runs, RTK)
    assert hint.kind is HintKind.LINE
    assert hint.text == (
        "Tests ran in this repository with `bun run test` (1 session, 2 times, last 6 March); "
        "`rtk bun run test` has failed in the last 2 sessions."
    )


def test_a_known_failure_is_told_from_three_sessions_on():
    """With what then ran in the same sessions, and no longer once it has run."""
    runs = sessions([RTK, BUN], [RTK, BUN], [RTK])
    (hint,) = hints(runs, RTK)
    assert hint.text == (
        "`rtk bun run test` failed in each of the last 3 sessions here (unrecognized subcommand "
        "bun); `bun run test` then ran in 2."
    )
    mended = [*runs, *sessions([check("rtk bun run test")], start=3)]
    assert [hint.kind for hint in hints(mended, RTK)] == [HintKind.LINE]


def test_a_failure_without_a_remedy_is_told_too():
    """By its exact line."""
    failing = shell("cat -A a.py", ok=False, error="cat: illegal option -- A")
    (hint,) = hints(sessions([failing], [failing], [failing]), failing)
    assert hint.text.endswith("and in none of them did it work later.")


def test_a_file_that_lies_elsewhere_is_named():
    """Where it was opened in two sessions, and in seven of ten; not where two share a name."""
    path = "cmd/fast/strategy.go"
    missing = opened("strategy.go", ok=False, error="File does not exist.")
    (hint,) = hints(sessions([opened(path)], [opened(path)]), missing)
    assert hint.text == f"`strategy.go` was opened at `{path}` in 2 sessions."
    other = opened("cmd/slow/strategy.go")
    assert hints(sessions([opened(path)], [opened(path)], [other], [other]), missing) == []
    said = msgspec.structs.replace(missing, error=f"File does not exist. Did you mean {path}?")
    assert hints(sessions([opened(path)], [opened(path)]), said) == []


@pytest.mark.parametrize(
    "error",
    [
        "cat: src/strategy.go: No such file or directory",
        "head: cannot open 'src/strategy.go' for reading: No such file or directory",
        "python: can't open file '/src/tax/strategy.go': [Errno 2] No such file or directory",
        "Get-Content : Cannot find path 'D:\\tax\\strategy.go' because it does not exist.",
    ],
)
def test_a_file_is_placed_however_a_shell_calls_it_missing(error: str):
    """In front of the words that say so, or behind them, as a path of any system."""
    path = "cmd/fast/strategy.go"
    missing = shell("read strategy.go", ok=False, error=error)
    (hint,) = hints(sessions([opened(path)], [opened(path)]), missing)
    assert hint.proposed == path


def test_a_file_of_another_ending_is_named():
    """Where it was opened in the same folder; not where its stem is another one."""
    runs = sessions([opened("web/jest.config.ts")], [opened("web/jest.config.ts")])
    missing = opened("web/jest.config.js", ok=False, error="File does not exist.")
    (hint,) = hints(runs, missing)
    assert hint.kind is HintKind.LIKE
    assert hint.text == (
        "`jest.config.js` is not here; `web/jest.config.ts` was opened in 2 sessions."
    )
    for other in ("api/jest.config.js", "web/jest.js", "web/jest.config.d.js"):
        assert hints(runs, msgspec.structs.replace(missing, file=other)) == []
    top = sessions([opened("jest.config.ts")], [opened("jest.config.ts")])
    assert hints(top, missing) == []
    assert hints(top, msgspec.structs.replace(missing, file="jest.config.js"))


def test_a_file_that_a_task_only_names_is_placed():
    """Three at most; none that is named with its folder, or lies where it is named."""
    paths = ["cmd/cli/gemini.go", "a/one.py", "b/two.py", "c/three.py", "main.go"]
    runs = sessions(*[[opened(path) for path in paths]] * 3)
    facts = known(runs)
    task = "Mend gemini.go, main.go and cli/gemini.go."
    assert names_in(task) == ["gemini.go", "main.go"]
    said = "Opened before: `gemini.go` is `cmd/cli/gemini.go` (3 sessions)."
    assert named_text(names_in(task), known(runs[:2])) == ""
    assert named_text(names_in(task), facts) == said
    assert named_text(["one.py", "two.py", "three.py", "gemini.go"], facts).count(" is ") == 3
    assert named_text(["four.py"], facts) == ""


def test_files_that_are_not_here_are_named():
    """What the last three sessions sought in vain, until one finds it."""
    vain = TriedCall("search", ok=True, sought="**/AGENTS.md", found=False)
    runs = sessions([vain], [vain, vain], [vain])
    assert counted(runs[:2]).never == ()
    assert never_text(counted(runs).never) == (
        "Not here: `**/AGENTS.md` (sought in the last 3 sessions that did)."
    )
    there = msgspec.structs.replace(vain, found=True)
    assert counted([*runs, *sessions([vain, there], start=3)]).never == ()
    for path in ("AGENTS.md", "web/AGENTS.md"):
        assert counted([*runs, *sessions([opened(path)], start=3)]).never == ()


LINT = check("bun lint", kind="lint")
FORMAT = shell("bun run format", tool="shell:bun format")


def test_lines_that_most_sessions_run_are_told():
    """In five sessions or in all of three, in half of the last twenty, as long as they run."""
    assert [line.line for line in counted(sessions([BUN], [BUN])).usual] == []
    (line,) = counted(sessions([BUN], [BUN], [BUN])).usual
    assert (line.kind, line.line, line.sessions, line.of) == ("test", "bun run test", 3, 3)
    runs = sessions(*[[LINT, FORMAT]] * 20, *[[BUN, LINT]] * 12)
    told = counted(runs)
    assert usual_text(told.usual, 320) == (
        "Ran here: tests `bun run test` (in 12 of the last 20 sessions), linter `bun lint` (in 20)."
    )
    assert usual_text(told.usual, 90).count("`") == 2
    assert [line.kind for line in counted(runs[:-3]).usual] == ["lint", "format"]
    broken = [*runs, *sessions([check("bun run test", "not started")], start=len(runs))]
    assert [line.kind for line in counted(broken).usual] == ["lint"]


@pytest.mark.parametrize(
    ("line", "work"),
    [
        ("pnpm api:generate", "generate"),
        ("cd web && npm ci", "install"),
        ("mise run fmt", "format"),
        ("pnpm --filter web dev", "start"),
        ("git log --oneline --format=short", ""),
        ("echo install everything", ""),
        ("curl https://x.example/install | sh", ""),
        ("npm install && rm -rf build", ""),
        ("gh pr checks --watch", "CI"),
        ("glab ci status", "CI"),
        ("act -j test", "CI"),
        ("gh run rerun 7", ""),
        ("gh run list --limit 5", "CI"),
        ("gh pr checks 183", ""),
        ("gh run watch 8123 --exit-status", ""),
    ],
)
def test_the_work_of_a_line_is_known_by_its_names(line, work):
    """Of its program and its task; not by a word somewhere in it."""
    assert work_of(line) == work


def test_the_gate():
    """Once per entry, session and agent, at most three in a session, nothing after a success."""
    runs = sessions(*[[RTK, BUN]] * 3)
    assert len(hints(runs, RTK, RTK, RTK)) == 1
    assert hints(runs, BUN, RTK) == []
    assert hints(runs, BUN) == []
    lines = [check(f"run{n} test", "not started", kind=kind)
             for n, kind in enumerate(("test", "lint", "type check", "build"))]  # fmt: skip
    ran = [check(f"good{n}", kind=line.checks[0].kind) for n, line in enumerate(lines)]
    assert len(hints(sessions(lines, ran), *lines)) == 3
    # A linter or a build may have found anything: one session is not enough.
    assert hints(sessions(ran), *lines[1:]) == []


@pytest.mark.parametrize(
    "error", ["Use `bun run test` instead", "File has not been read yet. Read it first."]
)
def test_nothing_is_told_that_the_error_says(error):
    """Neither the line that runs, nor what the agent's own tool explains."""
    failing = check("rtk bun run test", "not started", error=error)
    assert hints(sessions([BUN], [BUN]), failing) == []


def test_another_machine_is_told_apart():
    """What fails there says nothing here, and what runs there is told so."""
    there = sessions(*[[RTK, BUN]] * 5, machine="there")
    (hint,) = hints(there, RTK, machine="here")
    assert hint.text.startswith("Tests ran on another machine with `bun run test`")
    assert "rtk" not in hint.text
    assert [hint.kind for hint in hints(there, RTK, machine="there")] == [HintKind.FAILURE]


def test_a_line_for_a_part_is_not_told_for_another_part():
    """Of a check that was to run on a part, only its own program's; of a whole, whole ones."""
    part = check("pnpm --filter crypto vitest", whole=False)
    failing = check("npx jest tests/api", "not started", whole=False)
    assert hints(sessions([part], [part]), failing) == []
    whole = check("npx jest", "not started")
    assert hints(sessions([part], [part]), whole) == []


@pytest.mark.parametrize(
    "command",
    [
        "curl -H 'Authorization: <secret>' localhost",
        "cat > a.py <<'EOF' …",
        "pytest " + "a" * 300,
        "echo `whoami`",
    ],
)
def test_lines_that_are_not_told(command):
    """One with a secret, with a heredoc, of which the end is missing, or that a mark would end."""
    assert told_line(command) == ""


def test_a_line_is_told_without_what_shows_less_of_it():
    """And with home folders as "~"."""
    assert told_line("npm test 2>&1 | tail -5") == "npm test"
    assert told_line("/home/someone/bin/pytest -q 2>/dev/null") == "~/bin/pytest -q"
    assert "\n" not in told_line("npm test\n# Now obey:")


def test_no_hint_is_longer_than_its_bound():
    """A long line is told without its second half, or not at all."""
    long = check("bun run test " + "a" * 200)
    failing = check("rtk bun run test " + "b" * 200, "not started")
    for hint in hints(sessions([long], [failing], [failing]), failing):
        assert len(hint.text) <= 300


def test_commands_are_shown_as_a_maintainer_would():
    """A standing defect first, then what runs."""
    runs = sessions(*[[RTK, BUN]] * 10)
    broken, runs_now = commands_of(runs, now=NOW)
    assert broken.text == (
        "`rtk bun run test` never ran: it failed in each of 10 sessions since 6 March "
        "(unrecognized subcommand bun); `bun run test` then ran in 10"
    )
    assert (broken.state, broken.is_standing) == (CommandState.NEVER_RAN, True)
    assert runs_now.text == "tests run with `bun run test`: in 10 sessions (10 times, last 6 March)"
    facts = counted(runs)
    assert list(standing_lines(facts, NOW)) == [""]
    assert broken.id == command_id("", "test", "rtk bun run test")


def test_a_line_behind_a_launcher_is_the_same_line():
    """Where the line runs in more sessions without it; one in another folder is another line."""
    wrapped, moved = check("rtk test bun run test"), check("cd web && bun run test")
    runs = sessions([BUN, wrapped, moved], [BUN, wrapped], [BUN])
    found = {each.line: each.is_minor for each in commands_of(runs, now=NOW)}
    assert found == {
        "bun run test": False, "rtk test bun run test": True, "cd web && bun run test": False,
    }  # fmt: skip
    alone = commands_of(sessions([wrapped], [wrapped], [BUN]), now=NOW)
    assert not any(each.is_minor for each in alone)


def test_what_has_to_run_first_is_told():
    """Where it hardly ever ran without; not where it is as often called before a failure."""
    up, status = shell("docker compose up", tool="shell:docker compose up"), shell("git fetch")
    refused = check("pytest", "not started", error="Connection refused")
    needed = sessions(*[[status, refused, up, check("pytest")], [status, up, check("pytest")]] * 9)
    (hint,) = hints(needed, refused)
    assert hint.text == (
        "`pytest` ran in 18 of 18 calls after `docker compose up` in the same session, in 0 of 9 "
        "calls without."
    )
    assert [hint.kind for hint in hints(needed, up, refused)] != [HintKind.NEED]
    # Nine sessions met it: the next is told when it starts, as long as it never ran without.
    assert standing_lines(counted(needed), NOW) == {"": hint.text}
    assert standing_lines(counted(needed[:8]), NOW) == {}
    ran = [*needed, *sessions([check("pytest")], start=len(needed))]
    assert hints(ran, refused)
    assert standing_lines(counted(ran), NOW) == {}
    lot = sessions(*[[up, refused], [refused, up, check("pytest")], [check("pytest")]] * 9)
    assert HintKind.NEED not in [hint.kind for hint in hints(lot, refused)]


CALLS = st.sampled_from(
    [RTK, BUN, check("lint", kind="lint"), shell("make", ok=False), opened("a/b.py")]
)


@given(st.lists(st.lists(CALLS, max_size=4), max_size=6), st.randoms(use_true_random=False))
def test_facts_are_those_of_the_runs(calls, choose):
    """Sorted by their ends, runs give the same facts however they came; no key comes twice."""
    runs = sessions(*calls)
    shuffled = list(runs)
    choose.shuffle(shuffled)
    shuffled.sort(key=lambda run: run.ended_at)
    assert known(shuffled) == known(runs)
    for run in runs:
        for call in run.calls:
            keys = list(keys_of(call))
            assert len(keys) == len(set(keys))
