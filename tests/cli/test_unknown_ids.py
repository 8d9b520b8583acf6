"""A mistyped id, task or project is said to be unknown, with the nearest one, by every command."""

import pytest
import redis

from tests.cli.command_tree import leaves

# Each command that takes an id, with the kind of id; MISTYPED stands for it.
SIGNED = ("--by", "me", "--reason", "why")
TABLE = [
    ("pattern", "patterns", "show", "MISTYPED"),
    ("pattern", "patterns", "promote", "MISTYPED"),
    ("pattern", "patterns", "deprecate", "MISTYPED", *SIGNED),
    ("pattern", "patterns", "reset", "MISTYPED"),
    ("pattern", "explain", "MISTYPED"),
    ("pattern", "feedback", "give", "helpful", "--pattern", "MISTYPED"),
    ("criterion", "criteria", "show", "MISTYPED"),
    ("criterion", "explain", "MISTYPED"),
    ("task", "runs", "list", "--task", "MISTYPED"),
    ("task", "forget", "--task", "MISTYPED", "--dry-run"),
    ("record", "competences", "show", "MISTYPED"),
    ("record", "competences", "history", "MISTYPED"),
    ("record", "competences", "reinforce", "MISTYPED"),
    ("record", "competences", "penalize", "MISTYPED", "--amount", "0.1"),
    ("record", "competences", "supersede", "MISTYPED", "skill-1", *SIGNED),
    ("record", "competences", "fork", "MISTYPED", *SIGNED),
    ("record", "competences", "contest", "MISTYPED", "--evidence", "x", *SIGNED),
    ("record", "competences", "retract", "MISTYPED", *SIGNED),
    ("record", "competences", "merge", "MISTYPED", "skill-1", *SIGNED),
    ("record", "explain", "MISTYPED"),
    ("outcome", "runs", "show", "MISTYPED"),
    ("outcome", "amend", "MISTYPED", "--success", "--reason", "why"),
    ("outcome", "explain", "--run", "MISTYPED"),
    ("lesson", "lessons", "show", "MISTYPED"),
    ("lesson", "lessons", "dismiss", "MISTYPED"),
    ("lesson", "lessons", "restore", "MISTYPED"),
    ("command", "commands", "show", "MISTYPED"),
    ("command", "commands", "dismiss", "MISTYPED"),
    ("command", "commands", "restore", "MISTYPED"),
    ("memory", "memories", "confirm", "MISTYPED"),
    ("memory", "memories", "reject", "MISTYPED"),
    ("memory", "memories", "forget", "MISTYPED"),
    ("memory", "explain", "MISTYPED"),
    ("memory", "feedback", "give", "helpful", "--memory", "MISTYPED"),
    ("error", "errors", "resolve", "MISTYPED"),
    ("artifact", "artifacts", "get", "MISTYPED"),
    ("token", "token", "revoke", "MISTYPED"),
    ("letter", "dead", "replay", "MISTYPED"),
    ("letter", "dead", "discard", "MISTYPED"),
]
# A dead letter may not say which project it is of; who may use the server is not a project's own.
OF_NO_PROJECT = {"dead": (), "token": ("--json",)}


# A call of a captured run, with the check that its command line ran.
def _tested(line):
    return {
        "tool": "shell:pytest", "ok": True, "args": {"command": line},
        "checks": [{"kind": "test", "state": "passed", "line": line, "is_whole": True}],
    }  # fmt: skip


# What takes a name that may be new, or an answer for every one of them.
ANY_NAME = {
    ("artifacts", "list"), ("artifacts", "put"), ("context", "rank"),
    ("errors", "record"), ("errors", "context"), ("errors", "stats"), ("errors", "list"),
}  # fmt: skip


@pytest.fixture
def known(learnt, trackrecord, project, tmp_path, up):
    """One id of each kind that is on record in the test's project, and in no other one."""
    mine = ("--project", project, "--json")
    failing = {"tool": f"book-{project}", "ok": False, "error": "no seat left"}
    learnt(
        *(
            {
                "outcome_id": f"the-outcome-{letter * 9}-{project}",
                "task_id": f"mend-the-login-{number}",
                "success": number != 3, "strategy": f"Split by {project}",
                "criteria": {f"readable-{project}": "helpful"},
                "tool_graph": [{"tool": "find"}, failing, _tested(f"pytest {project}")],
            }
            for number, letter in enumerate("abcd")
        )
    )  # fmt: skip
    assert trackrecord("consolidate", "--project", project).status == 0
    (record,) = trackrecord("competences", "list", *mine).json
    (lesson, *_) = trackrecord("lessons", "list", *mine, "--everything").json
    (command, *_) = trackrecord("commands", "list", *mine).json
    memory = trackrecord(
        "memories", "add", f"The login test of {project} needs port 5432", *mine
    ).json["id"]
    made = trackrecord("token", "create", "--project", project, "--json").json["id"]
    error = trackrecord("errors", "record", "t", "m", *mine).json["id"]
    (tmp_path / "output").write_text("text")
    artifact = trackrecord("artifacts", "put", tmp_path / "output", *mine).json["id"]
    with redis.Redis(unix_socket_path=str(up / "redis.sock")) as client:
        letter = client.xadd("trackrecord:dead", {"body": b"x", "reason": "r"}).decode()
        yield {
            "pattern": f"split-by-{project}", "criterion": f"readable-{project}",
            "task": "mend-the-login-2",
            "record": record["id"], "outcome": f"the-outcome-ccccccccc-{project}",
            "lesson": lesson["id"],
            "memory": memory, "error": error, "artifact": artifact,
            "letter": letter, "token": made, "command": command["id"],
        }  # fmt: skip
        client.xdel("trackrecord:dead", letter)


def mistyped(some_id: str) -> str:
    """Two neighbouring characters change places: the most frequent slip."""
    for place in range(len(some_id) // 2, len(some_id) - 1):
        one, two = some_id[place : place + 2]
        if one != two:
            return some_id[:place] + two + one + some_id[place + 2 :]
    raise AssertionError(some_id)


def test_an_id_that_is_not_on_record(known, trackrecord, project):
    """A slip is told the nearest id, and what is like none where the ids are; nothing is changed.

    In one line with exit status 1, and in JSON as `nearest`. The same for a mistyped project.
    """
    wrong = []
    for kind, *command in TABLE:
        named = OF_NO_PROJECT.get(command[0], ("--project", project, "--json"))

        def ran(given, *named, command=command):
            return trackrecord(*(given if each == "MISTYPED" else each for each in command), *named)

        slip = ran(mistyped(known[kind]), *named)
        is_told = f"did you mean {known[kind]!r}?" in slip.err
        is_nearest = not named or slip.json["nearest"] == known[kind]
        if (slip.status, slip.err.count("\n")) != (1, 1) or not (is_told and is_nearest):
            wrong.append((command, slip))
        other = ran("%%%", *named)
        can_be_malformed = command[:2] in (["artifacts", "get"], ["feedback", "give"])
        is_right = other.status == 1 and other.err.count("`") >= 2
        is_guessed = "did you mean" in other.err or (
            other.out and other.json["nearest"] is not None
        )
        is_malformed = can_be_malformed and other.status == 2
        if not (is_right or is_malformed) or other.err.count("\n") != 1 or is_guessed:
            wrong.append((command, other))
        if command[0] not in ("artifacts", "errors", *OF_NO_PROJECT):
            # Several tests' projects are as near.
            other = ran(known[kind], "--project", f"{project}x", "--json")
            if other.status != 1 or not other.json["nearest"].startswith("project-"):
                wrong.append((command, other))
    assert wrong == []
    # With the command that lists the task's runs.
    of_task = trackrecord("runs", "show", known["task"], "--project", project)
    assert (of_task.status, of_task.out) == (1, "")
    assert of_task.err.endswith(
        "; that is the id of a task: `trackrecord runs list --task` shows its runs\n"
    )


def test_the_beginning_of_an_id_is_enough(known, trackrecord, project):
    """For every command that takes one; names of criteria and ids of tasks are given whole."""
    wrong = []
    # What erases the thing comes last.
    erasing = (["memories", "forget"], ["dead", "replay"])
    table = sorted(TABLE, key=lambda each: list(each[1:3]) in erasing)
    for kind, *command in table:
        is_whole = kind in ("criterion", "task")
        # The other id is not on record; the letter was replayed.
        is_left_out = "skill-1" in command or command[:2] == ["dead", "discard"]
        if is_whole or is_left_out:
            continue
        given = [known[kind][:-1] if each == "MISTYPED" else each for each in command]
        named = () if command[0] in ("dead", "token") else ("--project", project, "--json")
        ran = trackrecord(*given, *named)
        if ran.status:
            wrong.append((command, ran.err))
    assert wrong == []


def test_an_id_alone_finds_its_project(known, trackrecord, project):
    """In all commands that read the store, and standard error names the project."""
    wrong, tried = [], set()
    for kind, *command in sorted(TABLE, key=lambda each: each[1:3] == ("memories", "forget")):
        if kind in ("task", "error", "artifact", "token", "letter") or "skill-1" in command:
            continue
        given = [known[kind] if each == "MISTYPED" else each for each in command]
        ran = trackrecord(*given, "--json")
        if ran.status or ran.err != f"{known[kind]!r} is in project {project!r}\n":
            wrong.append((command, ran))
        tried.add(kind)
    assert wrong == []
    assert tried == {
        "pattern", "criterion", "record", "outcome", "lesson", "command", "memory",
    }  # fmt: skip


def test_an_id_of_another_project_than_the_named_one(known, learnt, trackrecord, project):
    """Is refused with the name of the other one, where nothing is done."""
    other = f"{project}-b"
    add = ("memories", "add", f"In {other} it is another port", "--project", other, "--json")
    assert trackrecord(*add).status == 0
    ran = trackrecord("memories", "forget", known["memory"], "--project", other)
    assert (ran.status, ran.out) == (1, "")
    assert f"is not in project {other!r}, but in {project!r}" in ran.err
    kept = trackrecord("memories", "list", "--project", project, "--json").json
    assert known["memory"] in {each["id"] for each in kept}


def test_an_id_of_several_projects(trackrecord, up, project, outcomes_file, monkeypatch):
    """One has to be named, unless the usual one has it; a beginning will do here, too."""
    both = [f"{project}-a", f"{project}-b"]
    run = {"outcome_id": f"{project}-of-both", "task_id": "t", "success": True}
    for name in both:
        assert trackrecord("publish", outcomes_file(run), "--project", name, "--wait").status == 0
    amend = ("amend", f"{project}-of-b", "--failure", "--reason", "why", "--json")
    ran = trackrecord(*amend)
    assert (ran.status, ran.out) == (2, "")
    assert f"is in the projects {both[0]!r}, {both[1]!r}; choose one with --project" in ran.err
    monkeypatch.setenv("TRACKRECORD_PROJECT", both[1])
    ran = trackrecord(*amend)
    assert (ran.status, ran.err) == (0, "")
    shown = [trackrecord("runs", "show", amend[1], "--project", name, "--json") for name in both]
    assert [each.json["success"] for each in shown] == [True, False]


def test_every_command_that_takes_an_id_is_in_the_table():
    """A new one is to be added above."""
    tried = {
        tuple(command[:2]) if command[0] != "explain" else ("explain",) for _, *command in TABLE
    }
    tried = {path[:1] if path[0] == "amend" else path for path in tried}
    takes = {
        path
        for path, command in leaves()
        for parameter in command.params
        if parameter.name.endswith(("_id", "_ids")) or parameter.name == "ids"
    }
    assert takes - ANY_NAME <= tried


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("import", "cluade", "x"), "claude-code"), (("import", "jsonnl", "x"), "jsonl"),
        (("install", "claud"), "claude-code"), (("uninstall", "cluade-code"), "claude-code"),
        (("lessons", "list", "--kind", "fail"), "fails"),
        (("patterns", "list", "--state", "prooven"), "proven"),
        (("memories", "list", "--type", "antipattern"), "anti-pattern"),
        (("errors", "record", "t", "m", "--type", "time-out"), "timeout"),
    ],
)  # fmt: skip
def test_a_mistyped_word_is_told_the_one_that_was_meant(nothing_up, trackrecord, arguments, meant):
    """Wrong use, with one guess."""
    ran = trackrecord(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert f"did you mean {meant!r}?" in ran.err
    assert "[claude-code|" not in ran.err
    assert len(ran.err.splitlines()) == 1
