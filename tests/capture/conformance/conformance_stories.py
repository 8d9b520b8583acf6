"""The stories that every source's recordings are written of, and what must be known of them.

An adapter joins with a `Teller`: a class that writes a story as its agent records it, put into
`TELLERS` of test_conformance.py. What is told as traces and events is in test_traces_conform.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import pytest

from tests.support.secret_texts import SECRET_TEXTS
from trackrecord_capture.sources.source import Source

FOLDER = "/src/shop"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"  # noqa: S105 - it opens nothing
PASSWORD = "hunter2pass"  # noqa: S105 - as above


class Shell(NamedTuple):
    """A command is run, and ends; or the agent is stopped while it runs, with no exit code."""

    command: str
    exit_code: int | None = 0
    output: str = ""


class Edit(NamedTuple):
    """A file is written by the agent's own tool."""

    file: str
    content: str = "PRICE = 3\n"


class Refused(NamedTuple):
    """The person refuses that a file is written, says why, and the agent goes on."""

    file: str


class Delegate(NamedTuple):
    """A sub-agent is sent on an errand: one that only looks, or a general one."""

    errand: str
    steps: tuple["Shell | Edit", ...]
    only_looks: bool = True


class Killed(NamedTuple):
    """The agent's process is killed while a command runs."""

    command: str


class Interrupt(NamedTuple):
    """The person stops the agent; the call before it is the one that runs."""


class ApiFails(NamedTuple):
    """The model's API fails for good."""

    message: str = "529 Overloaded"


class Crash(NamedTuple):
    """The agent itself breaks off with an error that is not one of the model's API."""

    message: str = "the sandbox broke"


class LimitReached(NamedTuple):
    """The agent gives up because it may not do any more."""


class Say(NamedTuple):
    """The agent ends its turn with some words."""

    text: str


Step = (
    Shell | Edit | Refused | Delegate | Killed | Interrupt | ApiFails | Crash | LimitReached | Say
)


class Turn(NamedTuple):
    """A person's prompt, and the agent's work."""

    prompt: str
    steps: tuple[Step, ...]


class Known(NamedTuple):
    """The expected facts about one run, from any source.

    Attributes:
        asked: the instruction.
        success: the verdict.
        because: where it comes from; None without a verdict.
        ground: the kind of the first ground.
        calls: the finer names of the tools, and whether each succeeded, or found something. The
            agents' own tools have names of their own: "edit" and "delegate" here.
        commits: the commits that were made.
    """

    asked: str
    success: bool | None
    because: str | None
    ground: str
    calls: tuple[tuple[str, bool | str | None], ...]
    commits: tuple[str, ...] = ()


def went(call: dict[str, Any]) -> bool | str | None:
    """Return whether a call of an outcome succeeded: "found" if it is a check with a finding."""
    if "result" not in call:
        return call.get("ok")
    assert call["ok"] is True
    assert "error" not in call
    return "found"


class Story(NamedTuple):
    """A session, and what must be known of its runs, in order of their start."""

    name: str
    turns: tuple[Turn, ...]
    known: tuple[Known, ...]


class Traits(NamedTuple):
    """In what an agent's records differ from those of others.

    Attributes:
        edit_tool: the name of the agent's own tool for edits.
        delegate_tool: the name of its tool that starts a sub-agent.
        wait_tool: the name of its tool that waits for a sub-agent; "" if it has none.
        untold: the names of stories that it has no record for, with the reason.
        grows: whether its logs are files that lines are appended to.
        hides_errands: whether what a sub-agent was told cannot be read.
    """

    edit_tool: str
    delegate_tool: str
    wait_tool: str = ""
    untold: Mapping[str, str] = MappingProxyType({})
    grows: bool = True
    hides_errands: bool = False


class Teller(Protocol):
    """Writes stories as one agent records them.

    Attributes:
        name: a name of its own.
        source: the adapter that reads them.
        traits: in what its records differ.
    """

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> Source: ...
    @property
    def traits(self) -> Traits: ...

    def tell(self, story: Story, home: Path) -> Sequence[Path]:
        """Write the story below a folder; return the places where its logs are."""
        ...


_FIX = "Fix the failing tests of the cart"
_WRONG = "No, that's wrong. Undo it."
_RED = Shell("pytest -q", 1, "E   assert 0 == 3\n1 failed, 2 passed in 0.21s")
_MISSING = Shell("pytest -q", 127, "bash: line 1: pytest: command not found")
_GREEN = Shell("cd /src/shop && uv run pytest -q", 0, "3 passed in 0.14s")
_EDIT = Edit("/src/shop/cart.py")
_DONE = Say("All tests pass now.")
_red, _green, _edit = ("shell:pytest", "found"), ("shell:pytest", True), ("edit", True)
_COMMIT = Shell("git add -A && git commit -m 'Mend it'", 0, "[main 1a2b3c4] Mend it\n 1 file")
_MENDS_AND_CHECKS = Delegate(
    "Mend the price as well", (Edit("/src/shop/price.py"), _GREEN), only_looks=False
)
_MENDS = Delegate("Mend the price as well", (Edit("/src/shop/price.py"),), only_looks=False)
_UPLOAD = f"curl -u bob:{PASSWORD} -H 'Authorization: Bearer {SECRET}' x"
_committed = ("shell:git commit", True)

STORIES = (
    Story(
        "mended",
        (Turn(_FIX, (_RED, _EDIT, _GREEN, _DONE)),),
        (Known(_FIX, True, "tests", "check passed", (_red, _edit, _green)),),
    ),
    Story(
        "never mended",
        (Turn(_FIX, (_RED, _EDIT, _RED, _DONE)),),
        (Known(_FIX, False, "tests", "check failed", (_red, _edit, _red)),),
    ),
    Story(
        "checked too early",
        (Turn(_FIX, (_EDIT, _GREEN, Edit("/src/shop/price.py"), _DONE)),),
        (Known(_FIX, None, None, "check before the last edit", (_edit, _green, _edit)),),
    ),
    Story(
        "never checked",
        (Turn(_FIX, (_EDIT, Shell("ls", 0, "cart.py"), _DONE)),),
        (Known(_FIX, None, None, "no check", (_edit, ("shell:ls", True))),),
    ),
    Story(
        "the status of a pipe",
        (Turn(_FIX, (_EDIT, Shell("pytest -q | tail -3", 0, "1 failed in 0.1s"), _DONE)),),
        (Known(_FIX, False, "tests", "check failed", (_edit, _green)),),
    ),
    Story(
        "interrupted",
        (Turn(_FIX, (_EDIT, Shell("sleep 60", None), Interrupt())),),
        (Known(_FIX, False, "heuristic", "interrupted", (_edit, ("shell:sleep", None))),),
    ),
    Story(
        "killed in a call",
        (Turn(_FIX, (_EDIT, Killed("sleep 60"))),),
        (
            Known(
                _FIX, False, "heuristic", "ended in the middle of a call",
                (_edit, ("shell:sleep", None)),
            ),
        ),
    ),
    Story(
        "killed in a call, and told to go on",
        (
            Turn(_FIX, (_RED, Killed("sleep 60"))),
            Turn("continue", (_EDIT, _GREEN, _DONE)),
        ),
        (
            Known(
                _FIX, True, "tests", "check passed", (_red, ("shell:sleep", None), _edit, _green)
            ),
        ),
    ),
    Story(
        "told that it is wrong",
        (
            Turn(_FIX, (_EDIT, Say("It is mended."))),
            Turn(_WRONG, (Shell("git checkout -- .", 0), Say("It is gone."))),
        ),
        (
            Known(_FIX, False, "explicit", "next prompt", (_edit,)),
            Known(
                _WRONG, None, None, "no check", (("shell:git checkout", True),)
            ),
        ),
    ),
    Story(
        "thanked",
        (
            Turn(_FIX, (_EDIT, Say("It is mended."))),
            Turn("Thanks, that works great", (Say("You are welcome."),)),
        ),
        (
            Known(_FIX, None, None, "no check", (_edit,)),
            Known("Thanks, that works great", None, None, "nothing seen", ()),
        ),
    ),
    Story(
        "the API fails",
        (Turn(_FIX, (_EDIT, _RED, ApiFails())),),
        (Known(_FIX, None, None, "check failed", (_edit, _red)),),
    ),
    Story(
        "a crash of the agent",
        (Turn(_FIX, (_EDIT, Crash())),),
        (Known(_FIX, False, "heuristic", "crashed", (_edit,)),),
    ),
    Story(
        "a limit is reached",
        (Turn(_FIX, (_RED, _EDIT, LimitReached())),),
        (Known(_FIX, False, "heuristic", "crashed", (_red, _edit)),),
    ),
    Story(
        "refused and led",
        (Turn(_FIX, (Refused("/src/shop/b.py"), _EDIT, _GREEN, _DONE)),),
        (Known(_FIX, True, "tests", "check passed", (("edit", None), _edit, _green)),),
    ),
    Story(
        "a sub-agent",
        (Turn(_FIX, (Delegate("Look what the cart must do", (_RED,)), _EDIT, _GREEN, _DONE)),),
        (
            Known(_FIX, True, "tests", "check passed", (("delegate", True), _edit, _green)),
            Known("Look what the cart must do", None, None, "only looked", (_red,)),
        ),
    ),
    Story(
        "a sub-agent edits after the check",
        (Turn(_FIX, (_EDIT, _GREEN, _MENDS, _DONE)),),
        (
            Known(
                _FIX, None, None, "check before the last edit", (_edit, _green, ("delegate", True))
            ),
            Known("Mend the price as well", None, None, "no check", (_edit,)),
        ),
    ),
    Story(
        "a sub-agent edits before the check",
        (Turn(_FIX, (_MENDS, _GREEN, _DONE)),),
        (
            Known(_FIX, True, "tests", "check passed", (("delegate", True), _green)),
            Known("Mend the price as well", None, None, "no check", (_edit,)),
        ),
    ),
    Story(
        "a sub-agent checks what it edited",
        (Turn(_FIX, (_MENDS_AND_CHECKS, _DONE)),),
        (
            Known(_FIX, True, "tests", "check passed", (("delegate", True),)),
            Known("Mend the price as well", True, "tests", "check passed", (_edit, _green)),
        ),
    ),
    Story(
        "a commit that is reverted",
        (
            Turn(_FIX, (_EDIT, _GREEN, _COMMIT, _DONE)),
            Turn(
                "Please take that commit back",
                (
                    Shell("git revert --no-edit HEAD", 0, '[main 5d6e7f8] Revert "Mend it"'),
                    Say("It is gone."),
                ),
            ),
        ),
        (
            Known(
                _FIX, True, "tests", "check passed", (_edit, _green, _committed), ("1a2b3c4",)
            ),
            Known(
                "Please take that commit back", None, None, "no check",
                (("shell:git revert", True),), ("5d6e7f8",),
            ),
        ),
    ),
    Story(
        "nothing is found, and nothing starts",
        (Turn(_FIX, (_EDIT, Shell("grep -n tax cart.py", 1), _MISSING, _DONE)),),
        (
            Known(
                _FIX, None, None, "check without a result",
                (_edit, ("shell:grep", True), ("shell:pytest", False)),
            ),
        ),
    ),
    Story(
        "secrets",
        (
            Turn(
                f"Use the token {SECRET} and password={PASSWORD} for the upload",
                (
                    Shell(_UPLOAD, 6, SECRET),
                    Edit("/src/shop/.env", f"TOKEN={SECRET}\n"),
                    Say(f"I used {SECRET}."),
                ),
            ),
        ),
        (
            Known(
                f"Use the token {SECRET} and password={PASSWORD} for the upload",
                None, None, "no check", (("shell:curl", False), _edit),
            ),
        ),
    ),
)  # fmt: skip

# Each kind of secret as what a person writes, what is run, what it prints and what the agent says.
SECRETS_TOLD = Story(
    "each kind of secret",
    tuple(
        Turn(text, (Shell(text, 1, f"error: {text}\n{text}"), Say(text)))
        for text in SECRET_TEXTS.values()
    ),
    (),
)


def told_by(tellers: Iterable[Any]) -> list[Any]:
    """Return the parameters of tests: each teller, or its class, with each story that it tells."""
    return [
        pytest.param(teller, story, id=f"{teller.name}: {story.name}")
        for teller in tellers
        for story in STORIES
        if story.name not in teller.traits.untold
    ]
