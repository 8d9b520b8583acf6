"""Sessions of earlier days, written into a person's home as the agents record them."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

from tests.capture.conformance.claude_code_teller import SESSION, ClaudeCodeTeller
from tests.capture.conformance.codex_teller import THREAD, CodexTeller
from tests.capture.conformance.conformance_stories import FOLDER, Step, Story, Turn
from tests.clients.real_agents import Workplace

_AGENTS: Final = {"claude-code": ClaudeCodeTeller(), "codex": CodexTeller()}
_LOGS: Final = {"claude-code": ".claude", "codex": ".codex"}
_DAY: Final = re.compile(r"2026-11-\d\d(?=T)")
_REPOSITORY: Final = "acme/shop.git"


def record(agent: str, place: Workplace, scratch: Path, prompt: str, *steps: Step) -> None:
    """Write a session of one prompt.

    Args:
        agent: whose session it is; an edit of Claude Code's is one with its `Edit`.
        place: the person, and the repository that it is about.
        scratch: a folder for what is written on the way.
        prompt: what was asked.
        steps: what the agent did.
    """
    session = str(uuid4())
    day = datetime.fromtimestamp(time.time() - 86_400, UTC).strftime("%Y-%m-%d")
    changed = {
        FOLDER: str(place.folder),
        _REPOSITORY: f"acme/{place.folder.name}.git",
        SESSION: session,
        THREAD: session,
        '"name":"Write"': '"name":"Edit"',
    }
    told = scratch / session
    _AGENTS[agent].tell(Story("", (Turn(prompt, steps),), ()), told)
    for path in told.rglob("*.jsonl"):
        text, target = _DAY.sub(day, path.read_text()), str(path.relative_to(told))
        for old, new in changed.items():
            text, target = text.replace(old, new), target.replace(old, new)
        written = place.home / _LOGS[agent] / target
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text)
