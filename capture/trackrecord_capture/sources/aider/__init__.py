"""aider: the history of chats that it keeps in each repository, in Markdown."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from ...agent_run import SignalKind
from ..conversation import Conversation
from ..declaration import Action, CodingAgent
from ..json_lines import read_lines
from ..log_files import LogFiles
from ..source import Log, ReadRun, Unreadable

_NAME: Final = "aider"
_FILE: Final = ".aider.chat.history.md"
# Its own words for what it does: it calls no tools of the model's choice.
TOOLS: Final[Mapping[str, Action]] = {"edit": "edit", "run": "shell"}
_LONGEST_LINE: Final = 64 * 1024
_STARTED: Final = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
_ASKED: Final = "#### "
_TOLD: Final = re.compile(r"> ?(.*?)\s*\Z", re.DOTALL)
_TOKENS: Final = re.compile(
    r"Tokens: ([\d.,]+)(k?) sent(?:, [\d.,]+k? cache \w+)*, ([\d.,]+)(k?) received"
    r"(?:.*Cost: \$([\d.]+) message)?"
)
_EDITED: Final = re.compile(r"Applied edit to (.+)\Z")
_COMMITTED: Final = re.compile(r"Commit ([0-9a-f]{7,40}) ")
_MODEL: Final = re.compile(r"(?:Main model|Model): (\S+)")
_FAILED: Final = re.compile(r"Attempt to fix (test|lint) errors\?")
_EDIT_FAILED: Final = re.compile(
    r"The LLM did not conform to the edit format|# \d+ SEARCH/REPLACE block"
)
_API: Final = re.compile(r"litellm\.\w{0,60}Error\b|The API provider\b")
# Commands with which a person asks the model; all others aider carries out by itself.
_PROMPTS: Final = re.compile(r"/(?:ask|code|architect|context|help)\s+(?=\S)")
_RUNS: Final = re.compile(r"(?:/(?:run|test)\s+|!)(?=\S)")


def _read(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of a history; only the start of a chat is dated, so reading goes on there."""
    yield from _History(log).read(resume_at)


class _History:
    """Reads the chats of one history, each of which is a session."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._chat: Conversation | None = None
        self._chat_start = 0
        self._at = 0.0
        self._asked: list[str] = []
        self._asked_at = 0
        self._calls = 0
        self._commits: dict[str, list[str]] = {}
        self._prompt = ""
        self._is_answered = False

    def read(self, resume_at: int) -> Iterator[ReadRun | Unreadable]:
        end = resume_at
        for line in read_lines(self._log.path, resume_at, longest=_LONGEST_LINE):
            text = (line.text or b"").decode(errors="replace").rstrip("\n")
            if not text.startswith(_ASKED) and self._asked:
                self._ask()
            if started := _STARTED.match(text):
                yield from self._rest(end)
                self._begin(started[1], line.start)
            else:
                self._take(text, line.start)
            end = line.end
            yield from self._followed(end)
        if self._asked:
            self._ask()
        yield from self._rest(end)

    def _begin(self, started: str, start: int) -> None:
        try:
            # In the time of this machine.
            self._at = datetime.strptime(started, "%Y-%m-%d %H:%M:%S").astimezone().timestamp()
        except (ValueError, OverflowError, OSError):
            self._at = 0.0
        self._chat = Conversation(_NAME, TOOLS)
        self._chat.session = f"{self._log.path.absolute().parent.name}-{started.replace(' ', 'T')}"
        self._chat.folder = str(self._log.path.absolute().parent)
        self._chat_start = start
        self._calls = 0

    def _take(self, text: str, start: int) -> None:
        if text.startswith(_ASKED):
            self._asked_at = self._asked_at if self._asked else start
            self._asked.append(text[len(_ASKED) :].rstrip())
        elif (told := _TOLD.match(text)) and self._chat is not None:
            self._tell(self._chat, told[1])
        elif text.strip() and self._chat is not None:
            self._chat.say(self._at, is_last=True)
            self._is_answered = False

    def _ask(self) -> None:
        words, self._asked = "\n".join(self._asked).strip(), []
        chat = self._chat
        if chat is None:
            return
        if words.startswith("/undo"):
            chat.take_back(self._at)
        elif run := _RUNS.match(words):
            self._use(chat, "run", {"command": words[run.end() :]}, actor="user")
        elif not words.startswith("/") or _PROMPTS.match(words):
            self._prompt = f"at-{self._asked_at - self._chat_start}"
            self._is_answered = False
            chat.ask(_PROMPTS.sub("", words, count=1), self._at, start=0, prompt=self._prompt)

    def _tell(self, chat: Conversation, says: str) -> None:
        """Take a line that aider itself writes."""
        if model := _MODEL.match(says):
            chat.model = model[1]
        elif tokens := _TOKENS.match(says):
            usd = float(tokens[5]) if tokens[5] else None
            read, written = _count(tokens[1], tokens[2]), _count(tokens[3], tokens[4])
            chat.count("", read, written, usd=usd)
            self._is_answered = True
        elif edited := _EDITED.match(says):
            self._use(chat, "edit", {"path": edited[1]}, ok=True)
        elif _EDIT_FAILED.search(says):
            self._use(chat, "edit", {}, ok=False, text=says)
        elif committed := _COMMITTED.match(says):
            self._commits.setdefault(self._prompt, []).append(committed[1])
        elif failed := _FAILED.match(says):
            self._use(chat, failed[1], {}, ok=False, text=f"{failed[1]} errors")
        elif says == "^C again to exit" and not self._is_answered:
            chat.see(SignalKind.INTERRUPTED, "", self._at)
        elif _API.search(says):
            chat.see(SignalKind.API_FAILED, says, self._at)

    def _use(
        self,
        chat: Conversation,
        tool: str,
        given: dict[str, str],
        *,
        ok: bool | None = None,
        text: str = "",
        actor: str = "agent",
    ) -> None:
        self._calls += 1
        call_id = f"call-{self._calls}"
        chat.use(call_id, tool, given, self._at, actor=actor)
        chat.result(call_id, text, ok=ok, at=self._at)
        chat.say(self._at, is_last=True)

    def _followed(self, end: int) -> Iterator[ReadRun]:
        if self._chat is not None:
            yield from map(self._placed, self._chat.followed(end))

    def _rest(self, end: int) -> Iterator[ReadRun]:
        if self._chat is not None:
            yield from map(self._placed, self._chat.rest(end))

    def _placed(self, found: ReadRun) -> ReadRun:
        commits = tuple(self._commits.pop(found.run.prompt, ()))
        run = msgspec.structs.replace(found.run, commits=commits or found.run.commits)
        return msgspec.structs.replace(found, run=run, resume_at=self._chat_start)


def _count(digits: str, thousands: str) -> int | None:
    try:
        number = float(digits.replace(",", ""))
    except ValueError:
        return None
    return int(number * 1000) if thousands else int(number)


AGENT: Final = CodingAgent(
    label="aider",
    source=LogFiles(
        name=_NAME,
        pattern=_FILE,
        # A history lies in its repository.
        homes=lambda: (Path.cwd() / _FILE,),
        read_log=_read,
    ),
    tools=TOOLS,
    tried="0.86.2",
)
