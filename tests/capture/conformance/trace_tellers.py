"""Stories as spans and log records: the GenAI conventions, and Claude Code's and Codex's events."""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from tests.capture.conformance.claude_code_teller import SESSION
from tests.capture.conformance.codex_teller import THREAD, patch
from tests.capture.conformance.conformance_stories import (
    FOLDER,
    ApiFails,
    Crash,
    Delegate,
    Edit,
    Interrupt,
    LimitReached,
    Refused,
    Say,
    Shell,
    Step,
    Story,
    Traits,
    Turn,
)
from trackrecord_capture.agent_run import run_outcome_id
from trackrecord_capture.otlp.encodings.span import LogRecord, Span

_START = 1_795_000_000
_NS = 10**9
_NO_END = "no event tells how the run ended"
_NO_OUTPUT = "the events leave out what a command printed"
_ONE_RUN = "agents below the root are a part of its run"
Told = Span | LogRecord


class TraceTeller(Protocol):
    """Tells stories as an exporter sends them.

    Attributes:
        name: a name of its own.
        traits: in what it differs from other sources.
    """

    @property
    def name(self) -> str: ...
    @property
    def traits(self) -> Traits: ...

    def tell(self, story: Story) -> list[list[Told]]:
        """Return what is sent for each turn."""
        ...

    def outcome_ids(self, story: Story) -> list[str]:
        """Return the ids of the outcomes that the turns and then the sub-agents become."""
        ...


class _Clock:
    """Counts the seconds of a story."""

    def __init__(self) -> None:
        self._seconds = itertools.count(1)

    def tick(self) -> int:
        return (_START + next(self._seconds)) * _NS


def _trace(number: int) -> str:
    return f"{number:032x}"


class _Events:
    """The common parts of agents that report their work as events."""

    agent = ""
    session = ""
    _body = ""

    def __init__(self) -> None:
        self._clock = _Clock()
        self._calls = itertools.count(1)

    def tell(self, story: Story) -> list[list[Told]]:
        return [list(self._turn(number, turn)) for number, turn in enumerate(story.turns, start=1)]

    def _turn(self, number: int, turn: Turn) -> Iterator[Told]:
        raise NotImplementedError

    def _log(self, name: str, trace: str, attributes: Mapping[str, Any]) -> LogRecord:
        return LogRecord(
            at_ns=self._clock.tick(), trace_id=trace, span_id="", event_name=name,
            body=f"{self._body}{name}" if self._body else None,
            attributes=dict(attributes), scope="test", resource={},
        )  # fmt: skip

    def outcome_ids(self, story: Story) -> list[str]:
        turns = [f"turn-{number}" for number in range(1, len(story.turns) + 1)]
        return [run_outcome_id(self.agent, self.session, turn) for turn in turns]


class ClaudeCodeEvents(_Events):
    """Claude Code's log events, as they are with all details switched on."""

    name = "claude-code's events"
    agent = "claude-code"
    session = SESSION
    _body = "claude_code."
    traits = Traits(
        edit_tool="Write",
        delegate_tool="Agent",
        hides_errands=True,
        untold={
            "the status of a pipe": _NO_OUTPUT,
            "nothing is found, and nothing starts": _NO_OUTPUT,
            "interrupted": _NO_END,
            "killed in a call": _NO_END,
            "killed in a call, and told to go on": _NO_END,
            "a crash of the agent": _NO_END,
            "a limit is reached": _NO_END,
            "a commit that is reverted": _NO_OUTPUT,
            "a sub-agent checks what it edited": "its calls are a run of its own",
            "a sub-agent edits before the check": "the agent may still work in the background",
        },
    )

    def outcome_ids(self, story: Story) -> list[str]:
        runs = [f"prompt-{number}" for number in range(1, len(story.turns) + 1)]
        runs += ["a0b1c2d3" for turn in story.turns for s in turn.steps if isinstance(s, Delegate)]
        return [run_outcome_id(self.agent, self.session, run) for run in runs]

    def _turn(self, number: int, turn: Turn) -> Iterator[Told]:
        whose = {"session.id": SESSION, "prompt.id": f"prompt-{number}"}
        trace = _trace(number)
        yield self._log("user_prompt", trace, whose | {"prompt": turn.prompt})
        for step in turn.steps:
            yield from self._step(step, trace, whose)

    def _step(self, step: Step, trace: str, whose: dict[str, str]) -> Iterator[Told]:
        if isinstance(step, Shell):
            ended = {"success": "true"} if step.exit_code == 0 else {
                "success": "false", "error_type": "ShellError", "error": "Shell command failed"
            }  # fmt: skip
            told = {"command": step.command}
            details = {"tool_parameters": json.dumps({"full_command": step.command})}
            yield self._used("Bash", trace, whose, told, details | ended)
        elif isinstance(step, Edit):
            given = {"file_path": step.file, "content": step.content}
            yield self._used("Write", trace, whose, given, {"success": "true"})
        elif isinstance(step, Refused):
            refused = {"tool_name": "Write", "tool_use_id": "toolu_0", "decision": "reject"}
            yield self._log("tool_decision", trace, whose | refused)
        elif isinstance(step, Delegate):
            for part in step.steps:
                yield from self._step(part, trace, whose | {"agent_id": "a0b1c2d3"})
            kind = "Explore" if step.only_looks else "general-purpose"
            given = {"prompt": step.errand, "subagent_type": kind}
            yield self._used("Agent", trace, whose, given, {"success": "true"})
        elif isinstance(step, ApiFails):
            failed = {"error": step.message, "status_code": "529", "model": "claude-x"}
            yield self._log("api_error", trace, whose | failed)
        else:
            yield self._log("api_request", trace, whose | {"model": "claude-x"})

    def _used(
        self, tool: str, trace: str, whose: dict[str, str], given: object, told: dict[str, str]
    ) -> LogRecord:
        call = {"tool_name": tool, "tool_use_id": f"toolu_{next(self._calls)}", "duration_ms": "9"}
        call["tool_input"] = json.dumps(given)
        return self._log("tool_result", trace, whose | call | told)


class CodexEvents(_Events):
    """Codex's log events, and of its spans the one that names the turn."""

    name = "codex's events"
    agent = "codex"
    session = THREAD
    traits = Traits(
        edit_tool="apply_patch",
        delegate_tool="spawn_agent",
        wait_tool="wait_agent",
        untold={
            "interrupted": _NO_END,
            "killed in a call": _NO_END,
            "killed in a call, and told to go on": _NO_END,
            "a crash of the agent": _NO_END,
            "a limit is reached": _NO_END,
            "a sub-agent checks what it edited": "its calls are a run of its own",
        },
    )
    _child = "01a20168-6106-7f52-b27b-c498fee45553"

    def outcome_ids(self, story: Story) -> list[str]:
        children = [s for turn in story.turns for s in turn.steps if isinstance(s, Delegate)]
        own = [run_outcome_id(self.agent, self._child, "child-turn-1") for _ in children]
        return super().outcome_ids(story) + own

    def _turn(self, number: int, turn: Turn) -> Iterator[Told]:
        trace = _trace(number)
        whose = {"conversation.id": THREAD}
        yield self._span(trace, f"turn-{number}", THREAD)
        yield self._event("user_prompt", trace, whose | {"prompt": turn.prompt})
        for step in turn.steps:
            yield from self._step(step, trace, whose)

    def _span(self, trace: str, turn: str, thread: str) -> Span:
        at = self._clock.tick()
        told = {"turn.id": turn, "conversation.id": thread, "cwd": FOLDER}
        return Span(
            trace_id=trace, span_id=f"{at:016x}", parent_id="", name="run_turn", start_ns=at,
            end_ns=at + 60 * _NS, status="unset", status_message="", attributes=told, events=(),
            scope="codex_exec", resource={"service.name": "codex_exec"},
        )  # fmt: skip

    def _event(self, name: str, trace: str, told: Mapping[str, Any]) -> LogRecord:
        return self._log("event otel/src/x.rs:1", trace, {"event.name": f"codex.{name}", **told})

    def _step(self, step: Step, trace: str, whose: dict[str, str]) -> Iterator[Told]:
        if isinstance(step, Shell):
            head = f"Wall time: 0.2 seconds\nProcess exited with code {step.exit_code}\nOutput:\n"
            given = {"cmd": step.command}
            yield self._used("exec_command", trace, whose, given, head + step.output)
        elif isinstance(step, Edit):
            output = "Wall time: 0 seconds\nOutput:\nExit code: 0\nOutput:\nSuccess."
            given = {"cmd": patch(step.file, step.content)}
            yield self._used("exec_command", trace, whose, given, output)
        elif isinstance(step, Refused):
            refused = {"tool_name": "apply_patch", "call_id": "call_0", "decision": "denied"}
            yield self._event("tool_decision", trace, whose | refused)
        elif isinstance(step, Delegate):
            child = {"conversation.id": self._child}
            yield self._span(trace, "child-turn-1", self._child)
            yield self._event("user_prompt", trace, child | {"prompt": step.errand})
            for part in step.steps:
                yield from self._step(part, trace, child)
            given = {"message": step.errand}
            started = json.dumps({"agent_id": self._child})
            yield self._used("spawn_agent", trace, whose, given, started)
            yield self._used("wait_agent", trace, whose, {"targets": [self._child]}, "{}")
        elif isinstance(step, ApiFails):
            failed = {"http.response.status_code": "500", "error.message": step.message}
            yield self._event("api_request", trace, whose | failed)
        else:
            yield self._event("api_request", trace, whose | {"http.response.status_code": "200"})

    def _used(
        self, tool: str, trace: str, whose: dict[str, str], given: object, output: str
    ) -> LogRecord:
        told = {
            "tool_name": tool, "call_id": f"call_{next(self._calls)}", "success": "true",
            "duration_ms": "9", "arguments": json.dumps(given), "output": output,
        }  # fmt: skip
        return self._event("tool_result", trace, whose | told)


class GenAiSpans:
    """An agent of one's own, traced by the GenAI conventions."""

    name = "genai spans"
    traits = Traits(
        edit_tool="write_file",
        delegate_tool="",
        untold={
            "killed in a call": _NO_END,
            "killed in a call, and told to go on": _NO_END,
            "refused and led": "the conventions have no word for a refusal",
            "a sub-agent": _ONE_RUN,
            "a sub-agent edits after the check": _ONE_RUN,
            "a sub-agent edits before the check": _ONE_RUN,
            "a sub-agent checks what it edited": _ONE_RUN,
        },
    )

    def __init__(self) -> None:
        self._clock = _Clock()
        self._numbers = itertools.count(1)

    def outcome_ids(self, story: Story) -> list[str]:
        traces = [_trace(number) for number in range(1, len(story.turns) + 1)]
        return [run_outcome_id("mender", "c-1", trace) for trace in traces]

    def tell(self, story: Story) -> list[list[Told]]:
        return [list(self._turn(number, turn)) for number, turn in enumerate(story.turns, start=1)]

    def _turn(self, number: int, turn: Turn) -> Iterator[Told]:
        trace, root = _trace(number), f"{next(self._numbers):016x}"
        started, ended = self._clock.tick(), ("unset", "", "")
        for step in turn.steps:
            if isinstance(step, Shell | Edit):
                yield self._tool(trace, root, step)
            elif isinstance(step, ApiFails):
                ended = ("error", "InternalServerError", step.message)
                yield self._span("chat m", trace, root, {"gen_ai.operation.name": "chat"}, ended)
            elif isinstance(step, Crash):
                ended = ("error", "RuntimeError", step.message)
            elif isinstance(step, LimitReached):
                ended = ("error", "MaxTurnsExceeded", "Max turns (10) exceeded")
            elif isinstance(step, Interrupt):
                ended = ("error", "KeyboardInterrupt", "")
            elif isinstance(step, Say):
                yield self._span("chat m", trace, root, {"gen_ai.operation.name": "chat"})
        asked = [{"role": "user", "parts": [{"type": "text", "content": turn.prompt}]}]
        told = {
            "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "mender",
            "gen_ai.conversation.id": "c-1", "gen_ai.input.messages": json.dumps(asked),
        }  # fmt: skip
        yield self._span("invoke_agent mender", trace, "", told, ended, own=root, start=started)

    def _tool(self, trace: str, root: str, step: Shell | Edit) -> Span:
        result: object = "Wrote the file."
        if isinstance(step, Shell):
            tool, given = "bash", {"command": step.command}
            result = {"exit_code": step.exit_code, "output": step.output}
        else:
            tool, given = "write_file", {"path": step.file, "content": step.content}
        told = {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
            "gen_ai.tool.call.arguments": json.dumps(given),
        }  # fmt: skip
        if not isinstance(step, Shell) or step.exit_code is not None:
            told["gen_ai.tool.call.result"] = json.dumps(result)
        return self._span(f"execute_tool {tool}", trace, root, told)

    def _span(
        self, name: str, trace: str, parent: str, told: Mapping[str, Any],
        ended: tuple[str, str, str] = ("unset", "", ""), *, own: str = "", start: int = 0,
    ) -> Span:  # fmt: skip
        status, error, message = ended
        at = self._clock.tick()
        failed = {"error.type": error} if error else {}
        return Span(
            trace_id=trace, span_id=own or f"{next(self._numbers):016x}", parent_id=parent,
            name=name, start_ns=start or at, end_ns=at + _NS // 2,
            status=status,  # type: ignore[arg-type] # one of its literals
            status_message=message, attributes=dict(told) | failed, events=(), scope="test",
            resource={"service.name": "mender", "process.working_directory": FOLDER},
        )  # fmt: skip
