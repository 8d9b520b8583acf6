"""Generated sessions in the shapes of Claude Code's transcripts and of Codex's rollouts.

As in 5,300 calls of shells and 8,400 of other tools in the sessions of three repositories: two of
five calls are command lines, a quarter of those are checks, two of three were never typed before,
and a twelfth fails. The logarithms of lengths are normal, as far as these were not cut: most
results are short, a few very long. A call takes 7.7 KB of a transcript with all that belongs to it.
"""

import json
import random
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

_TURNS: Final = 20
_CALLS: Final = 15
_CHECKS: Final = (
    "uv run pytest -q tests/{0}.py 2>&1 | tail -{1}", "npm test", "ruff check . && mypy src/{0}",
    "cd /src/shop && pnpm --filter {0} test {1} 2>&1 | tail -30",
)  # fmt: skip
_COMMANDS: Final = (
    "git status --short", "sed -n '{1},{2}p' src/{0}/cart.py",
    "cd /src/shop && git add src/{0}.py tests/{0}.py && git commit -q -m \"{0}: {3}\"",
    'grep -rn "def {0}" src --include=*.py | head -{1}; grep -rln "{0}_{1}" tests | sort',
    "git log --oneline -{1} -- src/{0}.py && git diff HEAD~{1} --stat | tail -{2}",
    "cat src/{0}/{1}.json | jq '.{0}[] | select(.id == {2})' > /tmp/{0}.json; wc -l /tmp/{0}.json",
    'for each in {0} {1} {2}; do echo "== $each"; curl -s localhost/$each | head -c 300; done',
)  # fmt: skip
# Of each tool how often it is called, the median length of its results, and how far they spread.
_TOOLS: Final = {
    "Bash": (40, 256, 1.9), "Read": (20, 2500, 1.3), "Edit": (18, 110, 0.1), "Grep": (8, 308, 1.8),
    "TaskUpdate": (14, 40, 0.5),
}  # fmt: skip
_PROSE: Final = """
the order service loses a discount when vouchers are redeemed twice def total self return import
from module expected quantity line customer basket price rounding currency invoice shipping address
"""
# What logs have here and there.
_LOGGED: Final = (
    "tests/test_cart.py::test_total PASSED", "E   AssertionError: 3 != 4", "path: src/shop/cart.py",
    "warning: unused variable", "  session = Session(engine)", "12:03:11 INFO started worker 4",
)  # fmt: skip
_EVERY: Final = 12
_WORDS: Final = tuple(_PROSE.split())
_START: Final = 1_770_000_000.0

Lines = Iterator[dict[str, Any]]


def write_sessions(folder: Path, shape: str, size: int) -> int:
    """Write sessions of a shape until they have this many bytes; return how many it were."""
    chance = random.Random(f"sessions/{shape}")
    make = _SHAPES[shape]
    written = number = 0
    while written < size:
        session = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        path = folder / f"rollout-{number:05}-{session}.jsonl"
        with path.open("w") as file:
            for line in make(chance, session):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
        written += path.stat().st_size
        number += 1
    return written


def _text(chance: random.Random, size: int, *more: str) -> str:
    words = chance.choices(_WORDS, k=size // 6)
    lines = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
    lines[::_EVERY] = chance.choices(_LOGGED, k=len(lines[::_EVERY]))
    return "\n".join([*lines, *more])


def _result(chance: random.Random, tool: str, *more: str) -> str:
    _, median, spread = _TOOLS[tool]
    return _text(chance, min(30_000, int(median * chance.lognormvariate(0, spread))), *more)


def _ran(chance: random.Random) -> tuple[str, str, bool]:
    """Return a command line, its output, and whether it failed."""
    is_check, has_failed = chance.random() < 0.26, chance.random() < 0.08
    numbers = chance.choices(range(10, 900), k=2)
    name, said = f"{chance.choice(_WORDS)}{chance.randrange(400)}", chance.choices(_WORDS, k=12)
    lines = chance.choices(_COMMANDS, k=chance.choice((1, 2, 2, 3)))
    if is_check:
        lines[-1] = chance.choice(_CHECKS)
    line = " && ".join(lines).format(name, *numbers, " ".join(said))
    told = f"{2 * has_failed} failed, 31 passed in 4.20s".removeprefix("0 failed, ")
    return line, _result(chance, "Bash", *[told] * is_check), has_failed


def _at(second: float) -> str:
    return datetime.fromtimestamp(int(second), UTC).strftime("%Y-%m-%dT%H:%M:%S.500Z")


def _codex(chance: random.Random, thread: str) -> Lines:
    second = _START
    blob = "".join(chance.choices("abcdefghijklmnopqrstuvwxyzABCDEF0123456789", k=2000))

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": _at(second), "type": kind, "payload": payload}

    git = {"branch": "main", "repository_url": "https://git.example.com/acme/shop.git"}
    yield line("session_meta", {"id": thread, "cwd": "/src/shop", "source": "cli", "git": git,
                                "base_instructions": {"text": _text(chance, 12_000)}})  # fmt: skip
    for turn in range(_TURNS):
        turn_id = f"turn-{turn}"
        prompt = _text(chance, 300)
        yield line("event_msg", {"type": "task_started", "turn_id": turn_id})
        yield line("turn_context", {"turn_id": turn_id, "cwd": "/src/shop", "model": "gpt-6-codex",
                                    "user_instructions": _text(chance, 1500)})  # fmt: skip
        yield line("event_msg", {"type": "user_message", "message": prompt})
        for number in range(_CALLS):
            second += chance.random() * 20
            call_id = f"call_{turn}_{number}"
            yield line("response_item", {"type": "reasoning", "encrypted_content": blob})
            yield from (line(*each) for each in _codex_call(chance, turn_id, call_id))
            used = {"input_tokens": 1000 * number, "output_tokens": 100 * number}
            info = {"total_token_usage": used, "last_token_usage": used}
            yield line("event_msg", {"type": "token_count", "info": info})
        yield line("event_msg", {"type": "task_complete", "turn_id": turn_id})


def _codex_call(
    chance: random.Random, turn_id: str, call_id: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    if chance.random() < 0.2:
        added = "\n+".join(_text(chance, 1500).split("\n"))
        patch = f"*** Begin Patch\n*** Update File: src/cart.py\n@@\n+{added}\n*** End Patch"
        call = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
        yield "response_item", {**call, "call_id": call_id}
        change = {"type": "FileChange", "id": call_id, "status": "completed",
                  "changes": {"/src/shop/cart.py": {"type": "update", "diff": added}}}  # fmt: skip
        yield "event_msg", {"type": "item_completed", "turn_id": turn_id, "item": change}
        answer = {"type": "custom_tool_call_output", "call_id": call_id, "output": "Success."}
        yield "response_item", answer
        return
    command, output, code = _ran(chance)
    arguments = json.dumps({"cmd": command, "yield_time_ms": 1000})
    call = {"type": "function_call", "name": "exec_command", "arguments": arguments}
    yield "response_item", {**call, "call_id": call_id}
    item = {"type": "CommandExecution", "id": call_id, "command": ["/bin/bash", "-lc", command],
            "cwd": "file:///src/shop", "exit_code": int(code), "aggregated_output": output,
            "duration": {"secs": 1, "nanos": 5}}  # fmt: skip
    yield "event_msg", {"type": "item_completed", "turn_id": turn_id, "item": item}
    said = f"Wall time: 1.0 seconds\nProcess exited with code {code:d}\nOutput:\n{output}"
    yield "response_item", {"type": "function_call_output", "call_id": call_id, "output": said}


def _claude_code(chance: random.Random, session: str) -> Lines:
    second = _START
    number = 0

    def line(kind: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON of any kind
        nonlocal number
        number += 1
        return {
            "parentUuid": f"{session}-{number - 1}", "isSidechain": False, "type": kind,
            "uuid": f"{session}-{number}", "timestamp": _at(second), "cwd": "/src/shop",
            "sessionId": session, "version": "2.1.330", "gitBranch": "main", "entrypoint": "cli",
            "userType": "external", **fields,
        }  # fmt: skip

    def said(role: str, content: object, **more: object) -> dict[str, Any]:
        return {"role": role, "content": content, **more}

    for turn in range(_TURNS):
        prompt_id = f"{session}-prompt-{turn}"
        yield line("user", promptId=prompt_id, message=said("user", _text(chance, 300)))
        for call in range(_CALLS):
            second += chance.random() * 20
            call_id = f"toolu_{turn}_{call}"
            usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 9000,
                     "server_tool_use": {"web_search_requests": 0}, "service_tier": "standard",
                     "cache_creation": {"ephemeral_1h_input_tokens": 1536}}  # fmt: skip
            told = {"id": f"msg_{turn}_{call}", "model": "claude-opus", "usage": usage}
            if chance.random() < 0.5:
                thinking = [{"type": "thinking", "thinking": "", "signature": "x" * 1500}]
                yield line("assistant", message=said("assistant", thinking, **told))
            tool, result, detail = _claude_call(chance)
            use = [{"type": "tool_use", "id": call_id, **tool}]
            yield line("assistant", message=said("assistant", use, **told))
            answer = [{"type": "tool_result", "tool_use_id": call_id, **result}]
            yield line("user", message=said("user", answer), toolUseResult=detail)
        done = [{"type": "text", "text": _text(chance, 600)}]
        yield line("assistant", message=said("assistant", done, stop_reason="end_turn"))


def _claude_call(chance: random.Random) -> tuple[dict[str, Any], dict[str, Any], object]:
    (name,) = chance.choices(list(_TOOLS), [often for often, *_ in _TOOLS.values()])
    if name == "Bash":
        command, output, has_failed = _ran(chance)
        tool = {"name": name, "input": {"command": command, "description": "run"}}
        if has_failed:
            content = f"Exit code 1\n{output}"
            return tool, {"content": content, "is_error": True}, f"Error: {content}"
        return tool, {"content": output}, {"stdout": output, "stderr": "", "interrupted": False}
    file = f"/src/shop/{chance.choice(_WORDS)}/{chance.choice(_WORDS)}.py"
    content = _result(chance, name)
    given, detail = {"file_path": file}, {"filePath": file, "content": content}
    if name == "Edit":
        old, new = _text(chance, 700), _text(chance, 900)
        given |= {"old_string": old, "new_string": new}
        detail |= {"oldString": old, "newString": new, "originalFile": _result(chance, "Read")}
    return {"name": name, "input": given}, {"content": content}, detail


_SHAPES: Final[dict[str, Callable[[random.Random, str], Lines]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
}
