"""The stories: what a person asks for, what the agent does, and what must be on record then."""

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.clients.steps import Delegate, Misfit, Refuse, Run, Say, Step, Write

# The file that a command makes which then runs until it is interrupted.
RUNNING: Final = "running"
TEST_FILE: Final = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
EDIT: Final = "the client's own tool for edits"
# Codex's scripts that were interrupted do not always say what they were about to run.
INTERRUPTED: Final = "a call that was interrupted"
DELEGATION: Final = "the client's own tool that starts a sub-agent"

_GOOD: Final = "def total(prices):\n    return sum(prices)\n"
_WRONG: Final = "def total(prices):\n    return 0\n"
_PROMPT: Final = "Fix the failing tests"
ERRAND: Final = "Look up what the cart has to do"
MENDING: Final = "Mend the cart and run its tests"
_TESTS: Final = Run("pytest -q")
# A launcher that every person of these stories has, and a command that is a check because their
# settings name it.
LAUNCHER: Final = "just"
OWN_CHECK: Final = "./dev verify"
SECRETS: Final = (
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "hunter2pass",
    "wJalrXUtnFEMIbKbPxRfiCYEXAMPLEKEY",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
)


class Expected(NamedTuple):
    """The expected record of one run, from any source.

    Attributes:
        asked: the beginning of what was asked.
        success: the verdict; None for no verdict.
        because: where the verdict comes from; "" if there is none.
        calls: the tools that were called, each with whether it succeeded; None for a call that
            was interrupted.
    """

    asked: str
    success: bool | None
    because: str
    calls: tuple[tuple[str, bool | None], ...]


class Story(NamedTuple):
    """A story that every agent plays.

    Attributes:
        asked: what the person types, one prompt after the other, all in one session.
        script: what the agent does at each prompt; a sub-agent has a prompt of its own.
        expected: the runs that must be on record, in order of their start.
        interrupted: whether the person interrupts the first prompt's last command.
        stop: the signal with which that is done.
        by_hand: what the person does in a shell after the first prompt; "" for nothing.
    """

    asked: tuple[str, ...]
    script: Mapping[str, Sequence[Step]]
    expected: tuple[Expected, ...]
    interrupted: bool = False
    stop: signal.Signals = signal.SIGINT
    by_hand: str = ""


def stories(folder: Path) -> dict[str, Story]:
    """Return the stories, played in this folder."""
    good, wrong = Write(folder / "cart.py", _GOOD), Write(folder / "cart.py", _WRONG)
    # What a check finds is a result: the call has done what it should, red or green.
    red = green = ("shell:pytest", True)
    edit = (EDIT, True)
    return {
        "mended": Story(
            (_PROMPT,), {_PROMPT: (_TESTS, good, _TESTS, Say("All tests pass now."))},
            (Expected(_PROMPT, True, "tests", (red, edit, green)),),
        ),
        "never-mended": Story(
            (_PROMPT,), {_PROMPT: (_TESTS, wrong, _TESTS, Say("All tests pass now."))},
            (Expected(_PROMPT, False, "tests", (red, edit, red)),),
        ),
        "checked-too-early": Story(
            (_PROMPT,),
            {
                _PROMPT: (
                    _TESTS, good, _TESTS, Write(folder / "price.py", "PRICE = 3\n"),
                    Say("All tests pass now."),
                )
            },
            (Expected(_PROMPT, None, "", (red, edit, green, edit)),),
        ),
        "interrupted": Story(
            (_PROMPT,), {_PROMPT: (_TESTS, good, Run(f"touch {RUNNING}; sleep 100"))},
            (Expected(_PROMPT, False, "heuristic", (red, edit, (INTERRUPTED, None))),),
            interrupted=True,
        ),
        "told-that-it-is-wrong": Story(
            (_PROMPT, "that's wrong, undo it"),
            {
                _PROMPT: (good, Run("ls"), Say("I wrote the cart.")),
                "that's wrong, undo it": (Run("rm cart.py"), Say("It is undone.")),
            },
            (
                Expected(_PROMPT, False, "explicit", (edit, ("shell:ls", True))),
                Expected("that's wrong, undo it", None, "", (("shell:rm", True),)),
            ),
        ),
        "api-refuses": Story(
            (_PROMPT,),
            {_PROMPT: (Run("ls"), Refuse(400, "authentication_error", "invalid key"))},
            (Expected(_PROMPT, None, "", (("shell:ls", True),)),),
        ),
        "sub-agent": Story(
            (_PROMPT,),
            {
                _PROMPT: (Delegate(ERRAND), good, _TESTS, Say("The cart adds up the prices.")),
                ERRAND: (Run("cat test_cart.py"), Say("It must add up the prices.")),
            },
            (
                Expected(_PROMPT, True, "tests", ((DELEGATION, True), edit, green)),
                Expected(ERRAND, None, "", (("shell:cat", True),)),
            ),
        ),
        "reverted": Story(
            (_PROMPT, "Take that commit back"),
            {
                _PROMPT: (good, Run("git add -A && git commit -m 'Add the cart'"), Say("Done.")),
                "Take that commit back": (Run("git revert --no-edit HEAD"), Say("It is gone.")),
            },
            (
                Expected(_PROMPT, False, "explicit", (edit, ("shell:git commit", True))),
                Expected("Take that commit back", None, "", (("shell:git revert", True),)),
            ),
        ),
        "reverted-by-hand": Story(
            (_PROMPT, "List the files"),
            {
                _PROMPT: (good, Run("git add -A && git commit -m 'Add the cart'"), Say("Done.")),
                "List the files": (Run("ls"), Say("There are two.")),
            },
            (
                Expected(_PROMPT, False, "explicit", (edit, ("shell:git commit", True))),
                Expected("List the files", None, "", (("shell:ls", True),)),
            ),
            by_hand="git revert --no-edit HEAD",
        ),
        # A commit that no branch has any more proves nothing.
        "reset-by-hand": Story(
            (_PROMPT, "List the files"),
            {
                _PROMPT: (good, _TESTS, Run("git add -A && git commit -m Cart"), Say("Done.")),
                "List the files": (Run("ls"), Say("There is one.")),
            },
            (
                Expected(_PROMPT, True, "tests", (edit, green, ("shell:git commit", True))),
                Expected("List the files", None, "", (("shell:ls", True),)),
            ),
            by_hand="git reset --hard HEAD~1",
        ),
        "killed-and-told-to-go-on": Story(
            (_PROMPT, "continue"),
            {
                _PROMPT: (good, Run(f"touch {RUNNING}; sleep 100")),
                "continue": (_TESTS, Say("All tests pass now.")),
            },
            (Expected(_PROMPT, True, "tests", (edit, (INTERRUPTED, None), green)),),
            interrupted=True,
            stop=signal.SIGKILL,
        ),
        **{
            name: Story(
                (_PROMPT, "List the files"),
                {
                    _PROMPT: (good, Run(f"touch {RUNNING}; sleep 100")),
                    "List the files": (Run("ls"), Say("There are two.")),
                },
                (
                    Expected(_PROMPT, False, "heuristic", (edit, (INTERRUPTED, None))),
                    Expected("List the files", None, "", (("shell:ls", True),)),
                ),
                interrupted=True,
                stop=stop,
            )
            for name, stop in (("killed", signal.SIGKILL), ("hung-up", signal.SIGHUP))
        },
        "sub-agent-that-checks": Story(
            (_PROMPT,),
            {
                _PROMPT: (Delegate(MENDING), Say("The cart adds up the prices.")),
                MENDING: (_TESTS, good, _TESTS, Say("It is mended.")),
            },
            (
                Expected(_PROMPT, True, "tests", ((DELEGATION, True),)),
                Expected(MENDING, True, "tests", (red, edit, green)),
            ),
        ),
        **{
            name: Story(
                (_PROMPT,), {_PROMPT: (Run(check), good, Run(check), Say("The cart is done."))},
                (Expected(_PROMPT, True, "tests", ((tool, True), edit, (tool, True))),),
            )
            for name, check, tool in (
                ("checked-by-a-launcher", f"{LAUNCHER} test", f"shell:{LAUNCHER} test"),
                ("checked-by-its-own", OWN_CHECK, "shell:dev"),
            )
        },
        "edit-that-does-not-fit": Story(
            (_PROMPT,),
            {
                _PROMPT: (
                    Run("cat test_cart.py"), Misfit(folder / "test_cart.py"), good, _TESTS,
                    Say("All tests pass now."),
                )
            },
            (
                Expected(
                    _PROMPT, True, "tests", (("shell:cat", True), ("edit", False), edit, green)
                ),
            ),
        ),
        "secrets": Story(
            (_PROMPT,),
            {
                _PROMPT: (
                    Run(f"true -H 'Authorization: Bearer {SECRETS[0]}' -u admin:{SECRETS[1]}"),
                    Run(
                        f"export AWS_SECRET_ACCESS_KEY={SECRETS[2]} AWS_ACCESS_KEY_ID={SECRETS[3]};"
                        f" env | grep AWS; echo token {SECRETS[4]}; false"
                    ),
                    Say("I have seen them."),
                )
            },
            (Expected(_PROMPT, None, "", (("shell:true", True), ("shell:env", False))),),
        ),
    }  # fmt: skip
