"""Sessions of a made-up person with Claude Code, in the shape of its transcripts."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DAY_S = 86_400.0
_SESSIONS = 16
_TASKS = (
    "Let the cart survive an empty voucher",
    "Show the tax on the invoice",
    "Round prices to whole cents",
    "Send the receipt after the payment",
)
BROKEN = "python -m pytest -q"
NOT_FOUND = "/usr/bin/python: No module named pytest"
_NOT_IN_FILE = "<tool_use_error>String to replace not found in file."


@dataclass(frozen=True)
class Call:
    """A call of a tool, and what came back."""

    tool: str
    args: dict[str, str]
    result: str
    fails: bool = False


def write_sessions(projects: Path, repository: Path) -> None:
    """Write sixteen sessions of the last weeks, in one repository.

    Args:
        projects: the folder in which Claude Code keeps them.
        repository: the folder that they worked in.
    """
    folder = projects / str(repository).replace("/", "-")
    folder.mkdir(parents=True)
    for number in range(_SESSIONS):
        session = f"00000000-0000-4000-8000-{number:012}"
        started = time.time() - (_SESSIONS - number) * _DAY_S
        lines = list(_session(session, number, str(repository), started))
        path = folder / f"{session}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _session(session: str, number: int, folder: str, started: float) -> Iterator[dict[str, Any]]:
    prompt = f"{_TASKS[number % len(_TASKS)]}, ticket {number + 100}"
    messages: list[tuple[str, Any]] = [("user", prompt)]
    for place, call in enumerate(_calls(number)):
        use = {"type": "tool_use", "id": f"t{place}", "name": call.tool, "input": call.args}
        result = {"type": "tool_result", "tool_use_id": f"t{place}", "content": call.result}
        messages += [
            ("assistant", [use]),
            ("user", [result | {"is_error": call.fails}]),
        ]
    if number % 8 == 6:
        messages.append(("user", [{"type": "text", "text": "[Request interrupted by user]"}]))
    else:
        messages.append(("assistant", [{"type": "text", "text": "Done."}]))
    for place, (role, content) in enumerate(messages):
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(started + 5 * place))
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"m{place}", "model": "made-up", "usage": {}}
        yield {
            "type": role, "message": message, "uuid": f"{session}-{place}", "timestamp": at,
            "parentUuid": f"{session}-{place - 1}" if place else None, "sessionId": session,
            "cwd": folder, "isSidechain": False, "entrypoint": "cli", "version": "2.1.330",
            "gitBranch": "main", **({} if place else {"promptId": f"p{number}"}),
        }  # fmt: skip


def _calls(number: int) -> Iterator[Call]:
    """Yield the calls: tests that do not start at first, an edit that may not fit, tests again."""
    file = f"shop/{('cart', 'invoice', 'prices', 'receipt')[number % 4]}.py"
    yield Call("Read", {"file_path": file}, "def total(prices): ...")
    if number % 5 != 4:
        yield Call("Bash", {"command": BROKEN}, f"Exit code 1\n{NOT_FOUND}", True)
        yield _tests(passes=True)
    edit = {"file_path": file, "old_string": "a", "new_string": "b"}
    if number % 3 == 1:
        yield Call("Edit", edit, f"{_NOT_IN_FILE}\nString: a</tool_use_error>", True)
        yield Call("Read", {"file_path": file}, "def total(prices): ...")
    yield Call("Edit", edit, f"The file {file} has been updated.")
    if number % 8 == 6 or number % 7 == 5:
        return
    if number % 6 == 2:
        yield _tests(passes=False)
        if number > 8:
            return
        yield Call("Edit", edit, f"The file {file} has been updated.")
    yield _tests(passes=True)


def _tests(*, passes: bool) -> Call:
    said = "12 passed in 0.41s" if passes else "Exit code 1\n1 failed, 11 passed in 0.43s"
    return Call("Bash", {"command": "uv run pytest -q"}, said, not passes)
