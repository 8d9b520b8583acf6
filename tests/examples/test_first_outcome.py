"""The README's first outcome: its two programs, run as a new user runs them."""

import re
import sys
from pathlib import Path

from tests.examples.tried import until

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
# What is little known is tried on some tasks: a hash of the project and the task says on which.
PROJECT = "default"


def blocks(language):
    """The README's fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_prompt_is_the_one_shown(up):
    """A few seconds later, word for word."""
    report, ask = blocks("python")[:2]
    up.example(sys.executable, "-c", report, project=PROJECT)
    shown = blocks("text")[0]
    until(lambda: up.example(sys.executable, "-c", ask, project=PROJECT) == shown)
