"""What shells complete: commands, options and choices."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from trackrecord_cli.main import run

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


def _asking(*words):
    """The variables by which bash asks for what completes the last of the words."""
    return {
        "_TRACKRECORD_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("trackrecord", *words)),
        "COMP_CWORD": str(len(words)),
    }


def _answered(out, err):
    assert err == ""
    return [each.partition(",")[2] for each in out.split()]


@pytest.fixture
def completed(monkeypatch, capfd):
    """Completes the last of some words in this process."""

    def complete(*words):
        capfd.readouterr()
        with monkeypatch.context() as asked:
            for name, value in _asking(*words).items():
                asked.setenv(name, value)
            with pytest.raises(SystemExit):
                run([])
        return _answered(*capfd.readouterr())

    return complete


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


def test_commands_and_choices_are_completed(completed):
    """Without a store, too."""
    assert completed("patterns", "sh") == ["show"]
    assert completed("patterns", "list", "--sort", "hel") == ["helpful"]
    assert completed("patterns", "list", "--state", "pro") == ["proven"]
