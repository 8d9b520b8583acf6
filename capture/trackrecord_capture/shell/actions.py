"""The action of a shell's command line: `cd x && FOO=1 uv run pytest -q tests/a.py` runs tests.

Of a line with several commands one counts, the one that it is about: a check before anything else,
then the last command that does something, then what only looks, and last `cd`, `echo` and the like.
"""

from functools import lru_cache
from typing import Final

import msgspec

from .checks import step_scope
from .names import LOOKS, TRIVIAL, step_name
from .programs import CHECKING, Purpose
from .purposes import OwnChecks, purpose_of
from .scopes import CheckScope, joined_folder
from .steps import ShellStep, steps_of

SHELL: Final = "shell"
# A tool of the agent's own, which models without it call through the shell.
_OWN_TOOLS: Final = frozenset({"apply_patch"})


class ShellAction(msgspec.Struct, frozen=True, kw_only=True):
    """The action of a command line.

    Attributes:
        launchers: what starts the program, from the outside in: `docker compose exec web python -m
            pytest` has "docker compose exec" and "python -m", `.venv/bin/pytest` has ".venv/bin".
            What only times or limits the program, as `timeout 30` does, is left out.
        program: the program's plain name: "pytest", "npm"; "" if it cannot be told.
        subcommand: what it is asked to do, if it does many things: "test" of `npm run test`.
        purpose: what it is for.
        scope: what it runs on; None unless it checks or formats.
        folder: the folder that it runs in, as far as the line and the caller say; "" if unknown.
        words: the command's words without launchers, variables and redirections.
        place: its position among the steps of the line, see `steps_of`; -1 if there is none.
    """

    launchers: tuple[str, ...] = ()
    program: str = ""
    subcommand: str = ""
    purpose: Purpose = Purpose.OTHER
    scope: CheckScope | None = None
    folder: str = ""
    words: tuple[str, ...] = ()
    place: int = -1

    @property
    def name(self) -> str:
        """The program and what it is asked to do: "cargo test"."""
        return f"{self.program} {self.subcommand}".strip()

    @property
    def is_check(self) -> bool:
        """Return whether it verifies earlier work: tests, a linter, a type check, a build."""
        return self.purpose in CHECKING


# The same few lines are asked for their name, their purpose and their scope.
@lru_cache(maxsize=256)
def read_shell_action(line: str, folder: str = "", own: OwnChecks = ()) -> ShellAction:
    """Return what a command line does.

    Args:
        line: the command line, of any length and in any state.
        folder: where it is run; "" if unknown.
        own: the checks that the project names itself.
    """
    steps = steps_of(line)
    at = _main_step(steps, own)
    if at < 0:
        return ShellAction(folder=folder)
    for step in steps[:at]:
        if step.words[:1] == ("cd",) and len(step.words) > 1:
            folder = joined_folder(folder, step.words[1])
    step = steps[at]
    purpose = purpose_of(step, own)
    has_scope = purpose in CHECKING or purpose is Purpose.FORMAT
    program, _, subcommand = step_name(step).partition(" ")
    return ShellAction(
        launchers=step.launchers,
        program=program,
        subcommand=subcommand,
        purpose=purpose,
        scope=step_scope(step, folder) if has_scope else None,
        folder=folder,
        words=step.words,
        place=at,
    )


def tool_name(line: str, own: OwnChecks = ()) -> str:
    """Return the finer name of a shell's call: "shell:" and the command that the line is about.

    Args:
        line: the command line, of any length and in any state. The name has at most 128 characters
            and holds no more of the line than programs, subcommands and scripts that they run by
            name. It is "shell" alone where no command can be told, and "apply_patch" for the tool
            that an agent also offers as a command.
        own: the checks that the project names itself.
    """
    steps = steps_of(line)
    at = _main_step(steps, own)
    name = step_name(steps[at]) if at >= 0 else ""
    if name in _OWN_TOOLS:
        return name
    return f"{SHELL}:{name}" if name else SHELL


def _main_step(steps: tuple[ShellStep, ...], own: OwnChecks) -> int:
    """Return the position of the step that a line is about; -1 if none has a name."""
    best, best_rank, in_pipe = -1, -1, False
    for place, step in enumerate(steps):
        rank = _rank(step, own)
        # In a pipe the first command gives the name, in a list the last one.
        if rank > best_rank or (rank == best_rank >= 0 and not in_pipe):
            best, best_rank = place, rank
        in_pipe = step.joined == "|"
    return best


def _rank(step: ShellStep, own: OwnChecks) -> int:
    name = step_name(step)
    if not name:
        return -1
    if name in TRIVIAL:
        return 0
    if name in LOOKS:
        return 1
    return 3 if purpose_of(step, own) in CHECKING else 2
