"""The program of a coding agent's hook: notes an end, or asks the front door.

Questions are what is known of the project, and whether an oversized output has a summary.

Copied into trackrecord's home and started there as `python -I -S hook.py AGENT [JSON]`, so it may
import the standard library alone, and little of that. Whatever goes wrong, the agent goes on as if
trackrecord were not installed: nothing is printed but the context that an agent asked for or the
output in its new form, and the exit status is always 0.
"""

import json
import os
import re
import signal
import sys
import time

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOTAL_S = 0.9
MOST_INPUT = 1 << 20
MOST_ANSWER = 1 << 18
MOST_WAITING = 2000
MOST_PROMPT = 32_768
_ASKING = {"SessionStart": "session", "UserPromptSubmit": "prompt"}
# Behind the agent's name, where an agent is to be reminded of what it has not checked.
_REMIND = "remind"
# It calls the same hook for commands that failed and for those that did not.
_WITHOUT_STATUS = "codex"
_ERROR_WORDS = (
    "not found", "no such", "no module", "error", "denied", "fatal", "cannot", "can't", "unknown",
    "unrecognized", "invalid", "missing", "refused", "failed", "unable", "not installed",
)  # fmt: skip
# As Gemini CLI and Qwen Code write that a command failed, below its output.
_STATUS = r"(?m)^Exit Code: ([1-9]\d{0,8})$"
_NAMED = ("command", "file_path", "path", "notebook_path")
MOST_ERROR = 32_768
A_DAY_S = 86_400
_NOT_RUNNING = (
    "trackrecord does not run, so this session is told nothing: `trackrecord up --detach` starts "
    "it, `trackrecord uninstall` removes it"
)
# What agents declare, by their names; written here when this file is copied. The variable that
# moves an agent's folder, and our names for its events.
_FOLDERS: dict[str, str] = {}
_EVENTS: dict[str, dict[str, str]] = {}


def main(arguments: list[str]) -> None:
    """Deal with one event."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, TOTAL_S)
    agent = arguments[1]
    if not agent.replace("-", "").isalnum():
        return
    is_reminded = arguments[2:] == [_REMIND]
    given = json.loads(arguments[2] if arguments[2:] and not is_reminded else _input())
    own = _word(given.get("hook_event_name") or given.get("type"))
    event = _EVENTS.get(agent, {}).get(own, own)
    if event:
        os.makedirs(f"{HOME}/agents/fired", 0o700, exist_ok=True)
        _touch(f"{HOME}/agents/fired/{agent}.{event}")
        if event in _ASKING:
            _ask(agent, event, own, given)
        elif event == "PostToolUseFailure":
            _tell(agent, event, own, given, _printed(given.get("error")))
        elif event == "PostToolUse":
            response = given.get("tool_response")
            if agent != _WITHOUT_STATUS:
                response = _failure_in(response)
            elif not _may_have_failed(response):
                return
            if response is None:
                _summarise(agent, given)
            else:
                _tell(agent, event, own, given, response)
        else:
            _note(agent, event, given)
            if is_reminded and not (given.get("stop_hook_active") or given.get("is_interrupt")):
                _remind(agent, given)


def _input() -> bytes:
    """Return the agent's input, and read the rest of it, too: no agent gets a broken pipe."""
    read, parts = 0, []
    while part := os.read(0, 65_536):
        read += len(part)
        if read <= MOST_INPUT:
            parts.append(part)
    return b"".join(parts) if read <= MOST_INPUT else b"{}"


def _word(text: object) -> str:
    """Return a text that is safe in a file name; "" for any other."""
    kept = text if isinstance(text, str) else ""
    return kept if len(kept) <= 128 and kept.replace("-", "").replace("_", "").isalnum() else ""


def _note(agent: str, event: str, given: dict[str, object]) -> None:
    """Leave a file that names what ended; the details are read from the agent's own log."""
    folder = f"{HOME}/hooks"
    os.makedirs(folder, 0o700, exist_ok=True)
    if len(os.listdir(folder)) >= MOST_WAITING:
        _complain(agent, f"{MOST_WAITING} notes wait, no more are taken: start `trackrecord up`")
        return
    noted = {
        "agent": agent,
        "event": event,
        "session": given.get("session_id") or given.get("thread-id") or "",
        "transcript": given.get("agent_transcript_path") or given.get("transcript_path") or "",
        "folder": given.get("cwd") or "",
        "home": os.environ.get(_FOLDERS.get(agent, ""), ""),
        "at": time.time(),
    }
    name = f"{time.time_ns():020d}-{os.getpid()}"
    waiting = f"{folder}/.{name}"
    made = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(made, json.dumps(noted).encode())
    os.close(made)
    os.rename(waiting, f"{folder}/{name}.json")


def _ask(agent: str, event: str, own: str, given: dict[str, object]) -> None:
    """Print the front door's answer, once for a session and an event; nothing without an answer."""
    session = _word(given.get("session_id"))
    if not session or os.path.exists(f"{HOME}/agents/told/{agent}.{session}.{_ASKING[event]}"):
        return
    asked = {
        "hook_event_name": event,
        "session_id": session,
        "cwd": given.get("cwd"),
        "prompt": str(given.get("prompt") or "")[:MOST_PROMPT],
        "prompt_id": given.get("prompt_id") or given.get("turn_id"),
    }
    try:
        answer = _post(agent, asked)
    except (FileNotFoundError, ConnectionRefusedError):
        _say_that_it_does_not_run()
        return
    told = json.loads(answer)
    if told.get("hookSpecificOutput"):
        if own != event:
            told["hookSpecificOutput"]["hookEventName"] = own
            answer = json.dumps(told).encode()
        os.write(1, answer + b"\n")


def _say_that_it_does_not_run() -> None:
    """Tell the person, once a day, in the field that agents show and hand to no model."""
    mark = f"{HOME}/agents/not-running"
    if os.path.exists(mark) and 0 <= time.time() - os.stat(mark).st_mtime < A_DAY_S:
        return
    _touch(mark)
    os.write(1, json.dumps({"systemMessage": _NOT_RUNNING}).encode() + b"\n")


def _tell(agent: str, event: str, own: str, given: dict[str, object], error: object) -> None:
    """Print what the front door knows of a call that has failed; nothing if it knows nothing."""
    arguments = given.get("tool_input")
    if not isinstance(error, str) or not isinstance(arguments, dict) or given.get("is_interrupt"):
        return
    if len(error) > 2 * MOST_ERROR:
        error = error[:MOST_ERROR] + "\n" + error[-MOST_ERROR:]
    said: dict[str, object] = {
        "hook_event_name": event,
        "tool_input": {
            name: arguments[name][:MOST_ERROR]
            for name in _NAMED
            if isinstance(arguments.get(name), str)
        },
        "error": error,
    }
    for name in ("session_id", "agent_id", "cwd", "transcript_path", "tool_name", "tool_use_id"):
        if isinstance(given.get(name), str):
            said[name] = given[name]
    if number := re.search(_STATUS, error):
        said["exit_code"] = int(number[1])
    told = json.loads(_post(agent, said))
    if told.get("hookSpecificOutput"):
        told["hookSpecificOutput"]["hookEventName"] = own
        os.write(1, json.dumps(told).encode() + b"\n")


def _remind(agent: str, given: dict[str, object]) -> None:
    """Print why the turn should not end yet, if the front door knows; once for a session."""
    session = _word(given.get("session_id"))
    if not session or os.path.exists(f"{HOME}/agents/told/{agent}.{session}.stop"):
        return
    said = {name: given.get(name) for name in ("session_id", "cwd", "transcript_path")}
    answer = _post(agent, {"hook_event_name": "Stop", "remind": True, **said})
    if json.loads(answer).get("decision"):
        os.write(1, answer + b"\n")


def _failure_in(response: object) -> object:
    """Return the text of a failed call, of agents that have it in its response; None for others."""
    if not isinstance(response, dict):
        return None
    error, text = response.get("error"), response.get("llmContent")
    if isinstance(error, dict):
        return error.get("message")
    return _printed(text) if isinstance(text, str) and re.search(_STATUS, text) else None


def _printed(text: object) -> object:
    """Return the output of a call, without the command that some agents put in front of it."""
    return (text.partition("\nOutput: ")[2] or text) if isinstance(text, str) else text


def _may_have_failed(output: object) -> bool:
    """Return whether an output holds a word of errors; most outputs hold none."""
    if not isinstance(output, str):
        return False
    text = (output[:MOST_ERROR] + output[-MOST_ERROR:]).lower()
    return any(word in text for word in _ERROR_WORDS)


def _summarise(agent: str, given: dict[str, object]) -> None:
    """Print the output of a tool with a summary in place of its text, if that is too large."""
    most = _largest_output()
    response, arguments = given.get("tool_response"), given.get("tool_input")
    holder, name = _longest_text(response)
    if not 0 < most < len(holder[name]):
        return
    said = {
        "hook_event_name": "PostToolUse",
        "session_id": given.get("session_id"),
        "cwd": given.get("cwd"),
        "prompt_id": given.get("prompt_id"),
        "tool_name": given.get("tool_name"),
        "command": arguments.get("command") if isinstance(arguments, dict) else None,
        "output": holder[name],
    }
    answer = json.loads(_post(agent, said))
    summary = answer.get("hookSpecificOutput", {}).get("updatedToolOutput")
    if isinstance(summary, str):
        holder[name] = summary
        output = {"hookEventName": "PostToolUse", "updatedToolOutput": response}
        os.write(1, json.dumps({"hookSpecificOutput": output}).encode() + b"\n")


def _longest_text(response: object) -> tuple[dict[str, str], str]:
    """Return what holds the longest text of an output, and its name there."""
    if isinstance(response, dict) and isinstance(response.get("stdout"), str):
        # What the agent keeps in a file of its own is cut already.
        return ({"": ""}, "") if response.get("persistedOutputPath") else (response, "stdout")
    blocks = response.get("content") if isinstance(response, dict) else response
    texts = [
        each
        for each in (blocks if isinstance(blocks, list) else ())
        if isinstance(each, dict) and isinstance(each.get("text"), str)
    ]
    return max(texts, key=lambda each: len(each["text"]), default={"text": ""}), "text"


def _largest_output() -> int:
    """Return how many characters an output has before the front door takes it; 0 for never."""
    with open(f"{HOME}/agents/door") as file:
        return int(file.read(512).split("\n")[3] or 0)


def _post(agent: str, event: dict[str, object]) -> bytes:
    """Return the body of the front door's answer.

    Asked over the socket in the home: on a port anybody could listen after the door was killed.
    """
    import socket

    body = json.dumps(event).encode()
    headers = [
        f"POST /hooks/{agent} HTTP/1.0",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(TOTAL_S / 2)
        door.connect(f"{HOME}/http.sock")
        door.sendall("\r\n".join([*headers, "", ""]).encode() + body)
        read = b""
        while len(read) < MOST_ANSWER and (part := door.recv(65_536)):
            read += part
    head, _, answer = read.partition(b"\r\n\r\n")
    return answer if b" 200 " in head.split(b"\r\n")[0] + b" " else b"{}"


def _complain(agent: str, says: str) -> None:
    """Remember what went wrong, for `trackrecord doctor`."""
    os.makedirs(f"{HOME}/agents/errors", 0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    made = os.open(f"{HOME}/agents/errors/{agent}", flags, 0o600)
    os.write(made, f"{time.time()}\n{says}\n".encode())
    os.close(made)


def _touch(path: str) -> None:
    """Remember by the time of a file when something happened last."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    os.utime(path)


if __name__ == "__main__":
    try:
        main(sys.argv)
    except BaseException:  # noqa: BLE001, S110 - nothing may reach the agent
        pass
    os._exit(0)
