"""The main step of a shell's line: `cd x && FOO=1 uv run pytest -q tests/a.py` runs pytest.

Of a line with several commands one counts, the one that it is about: a check before anything else,
then the last command that does something, then what only looks, and last `cd`, `echo` and the like.
"""

from typing import Final

from .names import LOOKS, TRIVIAL, step_name
from .programs import CHECKING
from .purposes import OwnChecks, purpose_of
from .steps import ShellStep, steps_of

SHELL: Final = "shell"
# A tool of the agent's own, which models without it call through the shell.
_OWN_TOOLS: Final = frozenset({"apply_patch"})


def main_step(line: str, own: OwnChecks = ()) -> ShellStep | None:
    """Return the step that a command line is about; None if none has a name.

    Args:
        line: the command line, of any length and in any state.
        own: the checks that the project names itself.
    """
    best: ShellStep | None = None
    best_rank, in_pipe = -1, False
    for step in steps_of(line):
        rank = _rank(step, own)
        # In a pipe the first command gives the name, in a list the last one.
        if rank > best_rank or (rank == best_rank >= 0 and not in_pipe):
            best, best_rank = step, rank
        in_pipe = step.joined == "|"
    return best


def tool_name(line: str, own: OwnChecks = ()) -> str:
    """Return the finer name of a shell's call: "shell:" and the command that the line is about.

    Args:
        line: the command line, of any length and in any state. The name has at most 128 characters
            and holds no more of the line than programs, subcommands and scripts that they run by
            name. It is "shell" alone where no command can be told, and "apply_patch" for the tool
            that an agent also offers as a command.
        own: the checks that the project names itself.
    """
    step = main_step(line, own)
    name = "" if step is None else step_name(step)
    if name in _OWN_TOOLS:
        return name
    return f"{SHELL}:{name}" if name else SHELL


def _rank(step: ShellStep, own: OwnChecks) -> int:
    name = step_name(step)
    if not name:
        return -1
    if name in TRIVIAL:
        return 0
    if name in LOOKS:
        return 1
    return 3 if purpose_of(step, own) in CHECKING else 2
