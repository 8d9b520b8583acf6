"""What shells complete: commands, options and choices."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

SHELLS = {
    "bash": ("bash", "--norc", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i"),
}
LINES = {
    "bash": 'eval "$(_TRACKRECORD_COMPLETE=bash_source trackrecord)"',
    "zsh": (
        "autoload -U compinit && compinit -u -D; "
        'eval "$(_TRACKRECORD_COMPLETE=zsh_source trackrecord)"'
    ),
    "fish": "_TRACKRECORD_COMPLETE=fish_source trackrecord | source",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_a_command(shell):
    """In the real shell, after the one line that the documentation gives."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with Terminal(program=SHELLS[shell], columns=200, PATH=path, PS1="ready> ") as terminal:
        terminal.type(f'{LINES[shell]}; echo so""urced\n')
        terminal.wait_for("sourced")
        # The shell adds what is missing of patterns.
        terminal.type("trackrecord patt")
        terminal.type_until("\t", "erns")
