"""The real command-line agents: how each is configured and started in a home of its own."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import httpx

from tests.clients.model_stub import playing
from tests.clients.steps import Step
from tests.clients.stories import DELEGATION, EDIT
from tests.support.processes import free_port

ROOT: Final = Path(__file__).parents[2]
CLIENTS: Final = Path(os.environ.get("TESTS_CLIENTS") or ROOT / "build" / "clients")
PATIENCE_S: Final = 120.0
# The name of a model that no agent knows.
UNKNOWN: Final = "stub"
_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")


class Workplace(NamedTuple):
    """A folder for an agent: nothing of the machine's user is in it.

    Attributes:
        home: the home folder of the person.
        folder: the project, a git repository.
        model: the address of the stand-in for the model's API.
        telemetry: where the agent sends its traces and logs; "" for nowhere.
        token: what it sends them with.
    """

    home: Path
    folder: Path
    model: str = ""
    telemetry: str = ""
    token: str = ""


def variables_of(home: Path) -> dict[str, str]:
    """Return the variables of every process of a person with this home folder."""
    name = {"NAME": "Ada", "EMAIL": "ada@example.com"}
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join(
            [str(home / ".local" / "bin"), str(Path(sys.executable).parent), *_PATH]
        ),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **{f"GIT_AUTHOR_{key}": value for key, value in name.items()},
        **{f"GIT_COMMITTER_{key}": value for key, value in name.items()},
    }


class Agent(Protocol):
    """A real agent.

    Attributes:
        name: as trackrecord calls it.
        tools: the words on record for tools that each client names as it likes.
        hides_errands: whether it encrypts what it asks of a sub-agent.
    """

    name: str
    tools: Mapping[str, str]
    hides_errands: bool

    def program(self) -> Path:
        """Return the path of its program."""
        ...

    def configure(self, home: Path) -> None:
        """Write the configuration that a person has before trackrecord is installed."""
        ...

    def variables(self, workplace: Workplace) -> dict[str, str]:
        """Return its own variables."""
        ...

    def command(self, workplace: Workplace, prompt: str, *, again: bool) -> Sequence[str]:
        """Return the arguments that have it work on a prompt, in the last session if `again`."""
        ...


class ClaudeCode:
    """Claude Code, in its print mode."""

    name = "claude-code"
    tools: Mapping[str, str] = {EDIT: "write", DELEGATION: "delegate"}
    hides_errands = False

    def program(self) -> Path:
        return CLIENTS / "claude-code" / "package" / "claude"

    def configure(self, home: Path) -> None:
        (home / ".claude").mkdir(exist_ok=True)

    def variables(self, workplace: Workplace) -> dict[str, str]:
        own = {
            "ANTHROPIC_BASE_URL": workplace.model,
            "ANTHROPIC_API_KEY": "stub",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "IS_SANDBOX": "1",
        }
        if not workplace.telemetry:
            return own
        return own | {
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
            "OTEL_EXPORTER_OTLP_ENDPOINT": workplace.telemetry,
            "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer {workplace.token}",
            "OTEL_LOG_USER_PROMPTS": "1",
            "OTEL_LOG_TOOL_DETAILS": "1",
            "OTEL_LOG_TOOL_CONTENT": "1",
        }

    def command(self, workplace: Workplace, prompt: str, *, again: bool) -> Sequence[str]:
        tools = "Bash,Read,Write,Agent,mcp__trackrecord"
        allowed = ["--permission-mode", "acceptEdits", "--allowedTools", tools]
        return ["-p", prompt, *allowed, *(["--continue"] if again else [])]


class Codex:
    """Codex, in its exec mode.

    Args:
        model: a model that Codex does not know has plain tools; its current ones write code that
            calls the tools, and get their errands encrypted.
    """

    name = "codex"

    def __init__(self, model: str) -> None:
        self._model = model
        self.hides_errands = model != UNKNOWN
        self.tools: Mapping[str, str] = {EDIT: "edit", DELEGATION: "delegate"}

    def program(self) -> Path:
        vendor = CLIENTS / "codex" / "package" / "vendor"
        return next(iter(vendor.glob("*/bin/codex")), vendor / "bin" / "codex")

    def configure(self, home: Path) -> None:
        (home / ".codex").mkdir(exist_ok=True)
        (home / ".codex" / "config.toml").write_text('model_provider = "stub"\n')
        # Its commands run in a login shell, which sets the PATH anew.
        (home / ".profile").write_text(f"export PATH={variables_of(home)['PATH']}\n")

    def variables(self, workplace: Workplace) -> dict[str, str]:
        return {}

    def command(self, workplace: Workplace, prompt: str, *, again: bool) -> Sequence[str]:
        provider = (
            f'{{ name = "stub", base_url = "{workplace.model}/v1", wire_api = "responses", '
            "request_max_retries = 1, stream_max_retries = 1 }"
        )
        settings = [f'model="{self._model}"', f"model_providers.stub={provider}"]
        if workplace.telemetry:
            endpoint = (
                f'{{ endpoint = "{workplace.telemetry}/v1/traces", protocol = "json", '
                f'headers = {{ authorization = "Bearer {workplace.token}" }} }}'
            )
            settings.append(f"otel.trace_exporter={{ otlp-http = {endpoint} }}")
            settings.append("otel.log_user_prompt=true")
        options = [
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
            *(part for setting in settings for part in ("-c", setting)),
        ]
        return ["exec", *(["resume", "--last"] if again else []), *options, prompt]


class OpenCode:
    """opencode, in its run mode."""

    name = "opencode"
    tools: Mapping[str, str] = {EDIT: "write", DELEGATION: "delegate"}
    hides_errands = False

    def program(self) -> Path:
        return CLIENTS / "opencode" / "package" / "bin" / "opencode"

    def configure(self, home: Path) -> None:
        folder = home / ".config" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        # It would install this for every home, for half a minute each.
        for installed in (CLIENTS / "opencode" / "config").iterdir():
            (folder / installed.name).symlink_to(installed)

    def variables(self, workplace: Workplace) -> dict[str, str]:
        served = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{workplace.model}/v1", "apiKey": "stub"},
            "models": {"m": {}},
        }
        configuration = {
            "model": "stub/m",
            "provider": {"stub": served},
            "permission": "allow",
            "experimental": {"openTelemetry": bool(workplace.telemetry)},
        }
        own = {
            "OPENCODE_CONFIG_CONTENT": json.dumps(configuration),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }
        traced = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": workplace.telemetry,
            "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer {workplace.token}",
        }
        return own | traced if workplace.telemetry else own

    def command(self, workplace: Workplace, prompt: str, *, again: bool) -> Sequence[str]:
        return ["run", *(["--continue"] if again else []), prompt]


AGENTS: Final[Mapping[str, Agent]] = {
    "claude-code": ClaudeCode(),
    "codex": Codex(UNKNOWN),
    "codex-in-code-mode": Codex("gpt-6.1-sol"),
    "opencode": OpenCode(),
}


def missing() -> list[str]:
    """Return the names of the agents whose programs are not there."""
    return [name for name, agent in AGENTS.items() if not agent.program().is_file()]


def work(
    agent: Agent,
    workplace: Workplace,
    prompt: str,
    *,
    again: bool,
    interrupt_at: Path | None,
    signaled: signal.Signals = signal.SIGINT,
) -> str:
    """Have an agent work on a prompt to the end of its turn; return what it has printed so far.

    Args:
        agent: who works.
        workplace: where.
        prompt: on what.
        again: whether it goes on with its last session.
        interrupt_at: the person interrupts the agent when the call that makes this file runs, and
            is in the agent's log.
        signaled: the signal with which that is done.
    """
    if interrupt_at is not None and isinstance(agent, OpenCode) and signaled == signal.SIGINT:
        _aborted(agent, workplace, prompt, interrupt_at)
        return _printed(workplace).read_text(errors="replace")
    with _started(agent, workplace, agent.command(workplace, prompt, again=again)) as process:
        if interrupt_at is not None:
            _wait_for(lambda: _runs(agent, workplace, interrupt_at), process)
            process.send_signal(signaled)
        process.wait(PATIENCE_S)
    return _printed(workplace).read_text(errors="replace")


def played(
    agent: Agent, place: Workplace, script: Mapping[str, Sequence[Step]], prompt: str
) -> tuple[str, list[str]]:
    """Have an agent play one prompt; return what it printed, and each request as one text."""
    with playing(script) as model:
        place = place._replace(model=model.url)
        printed = work(agent, place, prompt, again=False, interrupt_at=None)
    return printed, [json.dumps(each["body"]) for each in model.asked]


def _aborted(agent: Agent, workplace: Workplace, prompt: str, interrupt_at: Path) -> None:
    """Interrupt opencode as its screen does: Ctrl-C ends `opencode run` without a trace."""
    port = free_port()
    with (
        _started(agent, workplace, ["serve", "--port", str(port)]) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as server,
    ):
        _wait_for(lambda: _answers(server), process)
        session = server.post("/session", json={}).raise_for_status().json()["id"]
        said = {"parts": [{"type": "text", "text": prompt}]}
        server.post(f"/session/{session}/prompt_async", json=said).raise_for_status()
        _wait_for(interrupt_at.exists, process)
        server.post(f"/session/{session}/abort").raise_for_status()
        _wait_for(lambda: session not in server.get("/session/status").json(), process)
        process.terminate()
        process.wait(PATIENCE_S)


def _runs(agent: Agent, workplace: Workplace, made: Path) -> bool:
    """Return whether the call that makes a file runs, and would be known if the agent died now.

    Claude Code writes a call to its log a moment after it has started it.
    """
    if not made.exists() or not isinstance(agent, ClaudeCode):
        return made.exists()
    folder = re.sub(r"[^A-Za-z0-9]", "-", str(workplace.folder))
    logs = (workplace.home / ".claude" / "projects" / folder).glob("*.jsonl")
    return any(f"touch {made.name}" in log.read_text(errors="replace") for log in logs)


def _printed(workplace: Workplace) -> Path:
    """Return the file of an agent's output: beside its folder."""
    return workplace.folder.with_suffix(".log")


@contextmanager
def _started(
    agent: Agent, workplace: Workplace, arguments: Sequence[str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start an agent; in the end, end it with whatever it has started."""
    with _printed(workplace).open("ab") as output:
        process = subprocess.Popen(
            [agent.program(), *arguments], cwd=workplace.folder,
            env=variables_of(workplace.home) | agent.variables(workplace),
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(happened: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert happened(), "the agent never came so far"


def _answers(server: httpx.Client) -> bool:
    """Return whether opencode's server is ready: the first request that it takes, it may lose."""
    try:
        return server.get("/config", timeout=5).is_success
    except httpx.TransportError:
        return False
