"""Agents that play one story: how each is configured and started, a row for each."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.clients.real_agents import CLIENTS, Workplace, variables_of
from tests.clients.stories import DELEGATION, EDIT

_STUB: Final = "stub"


class PrintingAgent(NamedTuple):
    """An agent that is started with a prompt, works and ends; see `Agent`.

    Attributes:
        name: as trackrecord calls it.
        program_name: what its package calls its program.
        arguments: what stands before the prompt.
        told: its own variables, for a model's address.
        files: its configuration, by the path below the home folder, for a model's address.
        writes: the word on record for what writes a file.
        fires: events that have fired when it has played a story with a command that failed.
    """

    name: str
    program_name: str
    arguments: Sequence[str]
    told: Callable[[str], Mapping[str, str]] = lambda _: {}
    files: Callable[[str], Mapping[str, Any]] = lambda _: {}
    writes: str = "write"
    fires: Sequence[str] = ("UserPromptSubmit", "PostToolUse", "Stop")
    hides_errands: bool = False

    @property
    def tools(self) -> Mapping[str, str]:
        """The words on record for tools that each client names as it likes."""
        return {EDIT: self.writes, DELEGATION: "delegate"}

    def program(self) -> Path:
        """Return the path of its program."""
        return CLIENTS / self.name / "node_modules" / ".bin" / self.program_name

    def configure(self, home: Path) -> None:
        """Write its configuration, which names a model that no port serves yet."""
        for name, document in self.files("http://127.0.0.1:9").items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(json.dumps(document))

    def variables(self, workplace: Workplace) -> Mapping[str, str]:
        """Return its own variables; it may bring an engine of its own to run in."""
        usual = variables_of(workplace.home)["PATH"]
        path = os.pathsep.join([str(self.program().parent), usual])
        return {"PATH": path, **self.told(workplace.model)}

    def command(self, workplace: Workplace, prompt: str, *, again: bool) -> Sequence[str]:
        """Return the arguments that have it work on a prompt, in a session of its own."""
        assert not again
        usual = self.files("http://127.0.0.1:9")
        for name, document in self.files(workplace.model).items():
            # What does not name the model holds the hooks by now.
            if document != usual[name]:
                (workplace.home / name).write_text(json.dumps(document))
        return [*self.arguments, prompt]


def _pi_models(model: str) -> Mapping[str, Any]:
    served = {
        "baseUrl": f"{model}/v1",
        "api": "openai-completions",
        "apiKey": _STUB,
        "models": [{"id": "m"}],
    }
    return {".pi/agent/models.json": {"providers": {_STUB: served}}}


def _cline_providers(model: str) -> Mapping[str, Any]:
    name = "openai-compatible"
    settings = {"provider": name, "apiKey": _STUB, "model": "m", "baseUrl": f"{model}/v1"}
    provider = {
        "settings": settings,
        "updatedAt": "2026-11-23T00:00:00.000Z",
        "tokenSource": "manual",
    }
    known = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": {name: provider}}
    return {".cline/data/settings/providers.json": known}


MORE_AGENTS: Final = {
    agent.name: agent
    for agent in (
        PrintingAgent(
            "cline",
            "cline",
            ("--provider", "openai-compatible", "--model", "m"),
            # Otherwise a server of its own would stay behind.
            told=lambda _: {
                "CLINE_SESSION_BACKEND_MODE": "local",
                # On a busy machine it would give them up after four seconds.
                "CLINE_PLUGIN_IMPORT_TIMEOUT_MS": "60000",
            },
            files=_cline_providers,
            writes="edit",
            fires=("UserPromptSubmit", "PostToolUseFailure", "run-ended"),
        ),
        PrintingAgent(
            "qwen-code",
            "qwen",
            ("--yolo", "--auth-type", "openai", "--model", "m", "--prompt"),
            told=lambda model: {
                "OPENAI_API_KEY": _STUB,
                "OPENAI_BASE_URL": f"{model}/v1",
                "OPENAI_MODEL": "m",
            },
            files=lambda _: {".qwen/settings.json": {"privacy": {"usageStatisticsEnabled": False}}},
        ),
        PrintingAgent(
            "gemini-cli",
            "gemini",
            ("--yolo", "--skip-trust", "--model", "gemini-2.5-pro", "--prompt"),
            told=lambda model: {
                "GEMINI_API_KEY": _STUB,
                "GOOGLE_GEMINI_BASE_URL": model,
                "GEMINI_CLI_NO_RELAUNCH": "true",
            },
            files=lambda _: {
                ".gemini/settings.json": {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
                }
            },
        ),
        PrintingAgent(
            "pi",
            "pi",
            ("--offline", "--provider", _STUB, "--model", "m", "--print"),
            files=_pi_models,
            fires=("UserPromptSubmit", "PostToolUseFailure", "agent_settled"),
        ),
        PrintingAgent(
            "copilot",
            "copilot",
            ("--yolo", "--model", "m", "--prompt"),
            told=lambda model: {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": f"{model}/v1",
                "COPILOT_PROVIDER_API_KEY": _STUB,
            },
            files=lambda _: {".copilot/config.json": {"banner": "never"}},
        ),
    )
}
