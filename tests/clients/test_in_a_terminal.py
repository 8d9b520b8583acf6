"""Real agents in a terminal, where a person types one prompt after the other."""

import json
import os
from typing import Any

import pytest

from tests.cli.terminal import Terminal
from tests.clients.model_stub import playing
from tests.clients.on_record import until
from tests.clients.real_agents import AGENTS, Workplace, variables_of
from tests.clients.steps import Run, Say, Write

pytestmark = pytest.mark.timeout(600)
# Without question marks: in a text that comes at once, Codex takes one for its key for help.
_ANSWERS = {
    "Name the capital of France": "Paris",
    "And that of Spain": "Madrid",
    "And after these that of Italy": "Rome",
}
# What a program asks its terminal when it starts: where the cursor is, and which terminal it is.
_QUESTIONS = {"\x1b[6n": "\x1b[1;1R", "\x1b[c": "\x1b[?62;c", "\x1b[?u": "\x1b[?0u"}


class _AnsweringTerminal(Terminal):
    """A terminal that answers the questions of full-screen programs."""

    def _read(self) -> bool:
        before = len(self.shown)
        is_read = super()._read()
        for question, answer in _QUESTIONS.items():
            if question in self.shown[before:]:
                self.type(answer)
        return is_read


def _codex(place: Workplace, model: str) -> tuple[str, ...]:
    """Return the command line that starts Codex on its own screen, in a folder that it trusts."""
    agent = AGENTS["codex"]
    command = agent.command(place._replace(model=model), "", again=False)
    options = [each for each in command if each not in ("exec", "--skip-git-repo-check", "")]
    trusted = f'projects={{ "{place.folder}" = {{ trust_level = "trusted" }} }}'
    program = str(agent.program())
    return ("env", "-C", str(place.folder), program, *options, "-c", trusted)


def test_each_turn_of_codex_is_one_run(live, workplace):
    """Also one that begins right after the last; the thread that makes a title is none."""
    place = workplace("codex-terminal")
    others = len(live.runs("default"))
    story = {prompt: (Run("ls"), Say(answer)) for prompt, answer in _ANSWERS.items()}
    apart = dict.fromkeys(os.environ, "") | variables_of(place.home) | {"TERM": "xterm-256color"}
    with (
        playing(story) as model,
        _AnsweringTerminal(program=_codex(place, model.url), **apart) as terminal,
    ):
        terminal.wait_for("for shortcuts")
        for prompt, answer in _ANSWERS.items():
            terminal.type(prompt)
            terminal.wait_for(prompt.split()[-1])
            # What follows its keys at once, it takes for text that was pasted.
            terminal.type_until("\r", answer)
        runs = []

        def has_all() -> bool:
            runs[:] = live.runs("codex-terminal")
            return len(runs) >= len(_ANSWERS) and all(run["calls"] for run in runs)

        assert until(has_all)
    told = {run["instruction"]: [call["tool"] for call in run["calls"]] for run in runs}
    assert told == {key: ["shell:ls"] for key in _ANSWERS}
    assert {run["success"] for run in runs} == {None}
    assert len(live.runs("default")) == others


_KEPT = "Write the cart of the shop"
_REWOUND = "Give the cart a discount"
_NEXT = "List the files"
_UP, _DELETE_LINE = "\x1b[A", "\x15"


def _claude_code(place: Workplace) -> tuple[str, ...]:
    """Return the command line that starts Claude Code on its own screen, set up and trusting."""
    path = place.home / ".claude.json"
    configuration = json.loads(path.read_text()) if path.exists() else {}
    configuration |= {"hasCompletedOnboarding": True, "theme": "dark"}
    configuration |= {"customApiKeyResponses": {"approved": ["stub"], "rejected": []}}
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    configuration.setdefault("projects", {})[str(place.folder)] = trusted
    path.write_text(json.dumps(configuration))
    agent = AGENTS["claude-code"]
    _, _, *options = agent.command(place, "", again=False)
    return ("env", "-C", str(place.folder), str(agent.program()), *options)


def _verdicts(runs: list[dict[str, Any]]) -> dict[str, tuple[bool | None, str | None, int]]:
    """Return how each run ended and how many calls it made, by what was asked."""
    return {
        run["instruction"]: (run["success"], run["failure_mode"], len(run["calls"])) for run in runs
    }


def test_what_was_rewound_in_claude_code_has_failed(live, later, workplace):
    """The person took it back with `/rewind`: green tests do not help it, live and imported."""
    project = "claude-code-rewound"
    place = workplace(project)
    good = Write(place.folder / "cart.py", "def total(prices):\n    return sum(prices)\n")
    story = {
        _KEPT: (good, Run("pytest -q"), Say("Written.")),
        _REWOUND: (
            Write(place.folder / "discount.py", "DISCOUNT = 3\n"),
            Run("pytest -q"),
            Say("Discounted."),
        ),
        _NEXT: (Run("ls"), Say("Listed.")),
    }
    agent = AGENTS["claude-code"]
    with playing(story) as model:
        place = place._replace(model=model.url)
        apart = dict.fromkeys(os.environ, "") | variables_of(place.home) | agent.variables(place)
        screen = apart | {"TERM": "xterm-256color"}
        with _AnsweringTerminal(program=_claude_code(place), **screen) as terminal:
            terminal.wait_for("shift+tab")
            for prompt, answer in ((_KEPT, "Written."), (_REWOUND, "Discounted.")):
                terminal.type(prompt)
                terminal.wait_for(prompt.split()[-1])
                terminal.type_until("\r", answer)
            until(lambda: len(_verdicts(live.runs(project))) == 2)
            terminal.type("/rewind")
            terminal.wait_for("earlier")
            for key, shown in (("\r", "cancel"), (_UP, "❯"), ("\r", "Never"), ("\r", "accept")):
                terminal.type(key)
                terminal.wait_for(shown)
            # What was rewound is offered for another try.
            terminal.type_until(_DELETE_LINE, "\x1b[")
            terminal.type(_NEXT)
            terminal.wait_for(_NEXT.split()[-1])
            terminal.type_until("\r", "Listed.")
            assert not (place.folder / "discount.py").exists()
            expected = {
                _KEPT: (True, None, 2),
                _REWOUND: (False, "undone", 2),
                _NEXT: (None, None, 1),
            }
            until(lambda: _verdicts(live.runs(project)) == expected)
            assert _verdicts(live.runs(project)) == expected
    later("import", agent.name)
    assert _verdicts(later.runs(project)) == expected
