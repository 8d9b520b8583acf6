"""Cursor's command line: the transcripts that it keeps for each project.

They hold prompts and calls, but neither when they were made nor, in most versions, what came of
them: no verdict can rest on a check. The time of the file's last change stands in for all others.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ..declaration import Action, CodingAgent, tools_of
from ..json_values import as_object, as_text, objects_in, words_in
from ..log_files import LogFiles
from ..message_logs import MessageReader, reading_with

_NAME: Final = "cursor"
_TRANSCRIPTS: Final = "agent-transcripts"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="Shell",
    edit="StrReplace ApplyPatch EditNotebook Delete",
    write="Write",
    read="Read",
    search="Grep Glob SemanticSearch LS",
    web_search="WebSearch",
    delegate="Task",
)
_TAGS: Final = ("<user_query>", "</user_query>")


class _Transcript(MessageReader):
    """Reads the lines of one transcript."""

    _calls = 0

    def describe(self, record: dict[str, Any]) -> None:  # noqa: ARG002 - only the path tells
        """Take the session's id and folder from the path, and its time from the file."""
        self.chat.session = self.path.stem
        self.chat.folder = _folder_of(self.path)
        with suppress(OSError):
            self.chat.fallback_at = self.path.stat().st_mtime

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a line."""
        content = as_object(record.get("message")).get("content")
        parts = objects_in(content)
        if record.get("type") == "turn_ended":
            self.chat.end(None)
        elif record.get("role") == "user":
            words = words_in(content)
            begin, end = (words.find(tag) for tag in _TAGS)
            if 0 <= begin < end:
                words = words[begin + len(_TAGS[0]) : end]
            self.chat.ask(words, None, start=start)
        elif record.get("role") == "assistant":
            calls = [part for part in parts if part.get("type") == "tool_use"]
            self.chat.say(None, is_last=bool(words_in(content)) and not calls)
            for part in calls:
                self._calls += 1
                call_id = as_text(part.get("id")) or f"{start}-{self._calls}"
                self.chat.use(call_id, as_text(part.get("name")), part.get("input"), None)
        for part in parts:
            if part.get("type") == "tool_result":
                text, is_error = words_in(part.get("content")), part.get("is_error")
                ok = not is_error if isinstance(is_error, bool) else None
                self.chat.result(as_text(part.get("tool_use_id")), text, ok=ok)


def _folder_of(path: Path) -> str:
    """Return the folder whose path, with "-" for each "/", names the project; "" if none exists.

    A name may hold "-" itself, so the file system is asked.
    """
    folders = [folder for folder in path.parents if folder.name == _TRANSCRIPTS]
    if not folders:
        return ""
    folder, rest = Path("/"), folders[0].parent.name.strip("-").split("-")
    while rest:
        for count in range(1, len(rest) + 1):
            deeper = next(
                (p for name in _spelt(rest[:count]) if (p := folder / name).is_dir()), None
            )
            if deeper is not None:
                folder, rest = deeper, rest[count:]
                break
        else:
            return ""
    return str(folder)


def _spelt(words: Sequence[str]) -> Iterator[str]:
    for joint in ("-", "_", ".", " "):
        yield joint.join(words)
        if len(words) == 1:
            return


AGENT: Final = CodingAgent(
    label="Cursor CLI",
    source=LogFiles(
        name=_NAME,
        pattern="agent-transcripts/*/*.jsonl",
        homes=lambda: (Path.home() / ".cursor" / "projects",),
        read_log=reading_with(_Transcript, _NAME, TOOLS),
    ),
    tools=TOOLS,
)
