"""Fields of a call as they are stored: names, bounded beginnings of arguments, the error's text.

Nothing of a file's content is kept, neither what was read nor what was written.

The main step of a shell's line: `cd x && FOO=1 uv run pytest -q tests/a.py` runs pytest.

Of a line with several commands one counts, the one that it is about: a check before anything else,
then the last command that does something, then what only looks, and last `cd`, `echo` and the like.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

import msgspec

from trackrecord.learning.advice.runs.failures import error_line
from trackrecord.learning.text.redaction import redacted, redacted_beginning, redacted_value
from trackrecord.wire.outcome import CallCheck
from trackrecord.wire.storable import decoded
from trackrecord.wire.tried_calls import FOUND_FILES, NO_FILES

from .agent_run import RunCall
from .shell.names import LOOKS, TRIVIAL, step_name, told_name
from .shell.programs import CHECKING
from .shell.purposes import OwnChecks, purpose_of
from .shell.steps import ShellStep, steps_of

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
    name = "" if step is None else told_name(step)
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


NO_WORDS: Final[Mapping[str, str]] = {}
LONGEST_ARGUMENT: Final = 300
LONGEST_ERROR: Final = 1000
_LONGEST_TOOL: Final = 128
_LONGEST_ID: Final = 256
_LONGEST_READ: Final = 64 * 1024
_MOST_NAMES: Final = 32
LEFT_OUT: Final = "<left out>"
_GAP: Final = "\n…\n"
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_BLANKS: Final = re.compile(r"[ \t][ \t]++")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*+\n")
_BLANK_LINES: Final = re.compile(r"[ \t\n](?:(?<=\n)|[ \t]*\n)(?:[ \t]*\n)+")
# What a cut leaves of a word.
_LAST_PART: Final = re.compile(r"(?<=\s)\S{1,80}\Z")
_FIRST_PART: Final = re.compile(r"\A\S{1,80}\s+")
# What pytest says was raised.
_RAISED: Final = re.compile(
    r"^E ((?:[\w.]{0,100}(?:Error|Exception)\b|assert )[^\n]{0,300})", re.MULTILINE
)
# Arguments that hold what stands in a file, or will.
_CONTENT: Final = frozenset({
    "content", "contents", "old_string", "new_string", "old_str", "new_str", "file_text", "patch",
    "diff", "new_source", "edits", "insert_text", "code_edit", "instructions_patch", "new_content",
    "oldstring", "newstring", "oldtext", "newtext", "replacement", "patchtext", "changes", "data",
    "body", "text", "todos",
})  # fmt: skip
_PATHS: Final = frozenset({"file_path", "path", "notebook_path", "filePath", "filename"})
_PROMPTS: Final = frozenset({"prompt", "instructions", "description", "message", "query", "task"})
# Tools that look for files by a pattern of their names, and what they say where there is none.
_SEARCHES: Final = re.compile(r"glob|find_?files?|file_?search", re.IGNORECASE)
_EMPTY: Final = re.compile(
    r"\s{0,99}(?:(?:no|0) (?:files?|matches|results?)\b[^\n]{0,80}\s{0,99})?\Z", re.IGNORECASE
)
# Their failures repeat what stands in the file.
_OF_FILES: Final = re.compile(
    r"(?:^|[_:.])(?:read|write|edit|multi_?edit|notebook_?edit|notebook_?read|apply_?patch|patch"
    r"|str_replace|view|create|update_?file|cat)(?:$|[_:.])",
    re.IGNORECASE,
)


def kept_name(call: RunCall, words: Mapping[str, str] = NO_WORDS, own: OwnChecks = ()) -> str:
    """Return the tool's name, finer for a shell: "shell:pytest".

    Args:
        call: the call.
        words: what all agents call the agent's tools: "edit" for "Edit".
        own: the checks that the project names itself.
    """
    if not call.command:
        return redacted_beginning(words.get(call.tool, call.tool), _LONGEST_TOOL) or SHELL
    name = tool_name(call.command, own)
    program, *asked = words.get(name, name).split(" ")
    if asked:
        # What stands behind a program may be the value of an option that is not known.
        safe = redacted_beginning(call.command, len(call.command))
        asked = [each for each in asked if each in safe or each not in call.command]
    return redacted_beginning(" ".join((program, *asked)), _LONGEST_TOOL) or SHELL


def kept_call(
    call: RunCall,
    folder: str,
    *,
    prompts: bool,
    has_found: bool = False,
    words: Mapping[str, str] = NO_WORDS,
    own: OwnChecks = (),
    checks: Sequence[CallCheck] = (),
) -> dict[str, Any]:
    """Return a call as the wire has it, without secrets and without the content of files.

    Args:
        call: the call.
        folder: the working folder, which paths are told from.
        prompts: whether the text of prompts is kept.
        has_found: whether it is a check that ran and found something, which is its result.
        words: what all agents call the agent's tools.
        own: the checks that the project names itself.
        checks: the checks of its command line.
    """
    has_failed = call.ok is False and not has_found
    fields = {
        "tool": kept_name(call, words, own),
        "id": redacted_beginning(call.id, _LONGEST_ID) or None,
        "args": _arguments(call, folder, prompts=prompts),
        "ok": True if has_found else call.ok,
        "error": kept_error(call) if has_failed else None,
        "result": _kept_result(call, checks, has_found=has_found),
        "duration_ms": _amount(call.duration_ms),
        "timestamp": _amount(call.started_at),
        "actor": redacted_beginning(call.actor, _LONGEST_ID) if call.actor != "agent" else None,
        "checks": [_check(each) for each in checks] or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _check(check: CallCheck) -> dict[str, Any]:
    fields = {
        "kind": check.kind,
        "state": check.state,
        "line": check.line or None,
        "is_whole": check.is_whole or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _kept_result(call: RunCall, checks: Sequence[CallCheck], *, has_found: bool) -> str | None:
    """Return what a check found, or whether a search found files; None of other results."""
    if has_found or _is_hidden(call, checks):
        return kept_error(call)
    if call.ok and not call.command and _SEARCHES.search(call.tool):
        return NO_FILES if _EMPTY.match(call.result) else FOUND_FILES
    return None


def _is_hidden(call: RunCall, checks: Sequence[CallCheck]) -> bool:
    """Return whether a check did not start although its line's status says nothing of it."""
    return bool(call.ok) and any(check.state == "not started" for check in checks)


def kept_error(call: RunCall) -> str | None:
    """Return a failed call's error, None if it has none.

    Of a long one its beginning and its end, and the line that tells what went wrong.
    """
    text = call.error or call.result
    if not text.strip():
        return f"exit code {call.exit_code}" if call.exit_code else None
    if not call.command and (call.edits or _OF_FILES.search(call.tool)):
        return redacted_beginning(text.strip().partition("\n")[0], LONGEST_ARGUMENT)
    text = _clean(text)
    if raised := _RAISED.findall(text):
        # pytest draws a frame around it, and what the frame says stands in the grounds.
        text = raised[-1]
    said = shortened(text, LONGEST_ERROR)
    if len(text) <= LONGEST_ERROR or (line := redacted(error_line(text))) in _BLANKS.sub(" ", said):
        return said
    return f"{line}{_GAP}{shortened(text, LONGEST_ERROR - len(line) - len(_GAP))}"


def shortened(text: str, most: int) -> str:
    """Return a text without secrets, of a long one its beginning and its end, in whole words."""
    text = redacted(text)
    if len(text) <= most:
        return text
    begin, end = text[: most // 4], text[-(most - most // 4 - len(_GAP)) :]
    return _LAST_PART.sub("", begin) + _GAP + _FIRST_PART.sub("", end)


def _clean(text: str) -> str:
    """Return the text that is looked at; of a long one the middle is cut out at ends of lines."""
    if len(text) > 2 * _LONGEST_READ:
        begin, end = text[:_LONGEST_READ], text[-_LONGEST_READ:]
        text = begin.rpartition("\n")[0] + _GAP + end.partition("\n")[2]
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = _BLANKS.sub(" ", text)
    if _BLANK_LINE.search(text):
        text = _BLANK_LINES.sub("\n", text)
    return text.strip()


def _arguments(call: RunCall, folder: str, *, prompts: bool) -> Any:  # noqa: ANN401 - any JSON
    file = kept_path(call.edits[0], folder) if len(call.edits) == 1 else ""
    if file and tool_name(call.command) in _OWN_TOOLS:
        return {"path": file}
    if call.command:
        return {"command": redacted_beginning(_without_bodies(call.command), LONGEST_ARGUMENT)}
    given = call.arguments
    if isinstance(given, str):
        try:
            given = decoded(given)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            given = None
    if file and not (isinstance(given, dict) and _PATHS & given.keys()):
        # A patch names its file in its text.
        given = {**(given if isinstance(given, dict) else {}), "path": file}
    if not isinstance(given, dict):
        return None
    kept = {
        name: _left_out(value) if _is_left_out(str(name), prompts=prompts) else value
        for name, value in list(given.items())[:_MOST_NAMES]
    }
    for name in _PATHS & kept.keys():
        if isinstance(path := kept[name], str):
            kept[name] = kept_path(path, folder)
    return redacted_value(_pruned(kept), LONGEST_ARGUMENT)


def _is_left_out(name: str, *, prompts: bool) -> bool:
    name = name.lower()
    return name in _CONTENT or (not prompts and name in _PROMPTS)


def _left_out(value: object) -> object:
    """Keep the JSON type, which recipes are made of."""
    if isinstance(value, str):
        return LEFT_OUT
    return type(value)() if isinstance(value, (list, dict)) else value


def _pruned(value: Any, depth: int = 4) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {
            name: _left_out(inner) if str(name).lower() in _CONTENT else _pruned(inner, depth - 1)
            for name, inner in list(value.items())[: _MOST_NAMES if depth else 0]
        }
    if isinstance(value, list):
        return [_pruned(inner, depth - 1) for inner in value[: 10 if depth else 0]]
    return value


def _without_bodies(command: str) -> str:
    """Cut a command line at its first heredoc, whose body is the content of a file."""
    found = _HEREDOC.search(command)
    return command if found is None else command[: found.end()] + " …"


_HEREDOC: Final = re.compile(r"<<-?[ \t]*['\"]?\w+['\"]?[^\n]*(?=\n)")


def _amount(value: float | None) -> float | None:
    return value if value is not None and 0 <= value < float("inf") else None


def kept_path(path: str, folder: str) -> str:
    """Return a file's path: relative to the working folder, or from the home folder on."""
    top = folder.rstrip("/\\")
    if top and path.startswith((f"{top}/", f"{top}\\")):
        path = path[len(top) + 1 :]
        # As Windows spells the top, so the rest.
        path = path.replace("\\", "/") if "\\" in top else path
    else:
        path = _HOME.sub("~", path, count=1)
    return redacted_beginning(path, LONGEST_ARGUMENT)


_HOME: Final = re.compile(r"\A(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\])")


def folder_name(folder: str) -> str:
    """Return a folder's own name."""
    return redacted_beginning(PurePath(folder.replace("\\", "/")).name, LONGEST_ARGUMENT)
