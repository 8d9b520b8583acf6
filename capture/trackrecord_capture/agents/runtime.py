"""The files in trackrecord's home that the agents' configurations point to.

They are copies, and their paths never change: an agent that trusts a hook by the text of its
command goes on trusting it after trackrecord was upgraded or moved to another interpreter.
"""

import os
import shlex
import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import Final

from trackrecord.process.folders import make_private_folder

from ..sources.register import known_agents
from .replacing import replace_file

FIRED: Final = "fired"
TOLD: Final = "told"
_NOT_RUNNING: Final = "not-running"
REMIND: Final = "remind"
"""The word with which a hook asks at the end of a turn, see `hook.py`."""
_PACKAGE: Final = "trackrecord_capture.agents"
_NO_FOLDERS: Final = "_FOLDERS: dict[str, str] = {}"
_NO_EVENTS: Final = "_EVENTS: dict[str, dict[str, str]] = {}"


def runtime_folder(home: Path) -> Path:
    """Return the folder of the hook and its state."""
    return home / "agents"


def wrapper_path(home: Path) -> Path:
    """Return the path of the program that the agents' hooks start."""
    return runtime_folder(home) / "hook"


def mcp_path(home: Path) -> Path:
    """Return the path of the program that agents start as an MCP server."""
    return runtime_folder(home) / "mcp"


def hook_command(home: Path, *words: str) -> str:
    """Return the command of a hook, with the agent's name: a shell line that always succeeds."""
    return f"{hook_prefix(home)}{' '.join(words)} 2>/dev/null || true"


def hook_prefix(home: Path) -> str:
    """Return the beginning that all hook commands of this home share."""
    return f"{shlex.quote(str(wrapper_path(home)))} "


def write_runtime(home: Path) -> None:
    """Write what agents start; a file that is as it should be is left alone.

    Raises:
        OSError: they cannot be written.
    """
    folder = runtime_folder(home)
    make_private_folder(home)
    make_private_folder(folder)
    hook = folder / "hook.py"
    _write(hook, _hook(), 0o600)
    python = shlex.quote(sys.executable)
    _write(wrapper_path(home), packaged("hook.sh").format(python=python, hook=_quoted(hook)), 0o700)
    proxy = folder / "mcp.py"
    _write(proxy, packaged("mcp_proxy.py"), 0o600)
    server = packaged("mcp.sh").format(python=python, proxy=_quoted(proxy), home=_quoted(home))
    _write(mcp_path(home), server, 0o700)


def remove_runtime(home: Path) -> None:
    """Remove the files that `write_runtime` wrote, and the state of the hook.

    Raises:
        OSError: something cannot be removed.
    """
    folder = runtime_folder(home)
    ours = (folder / name for name in ("hook.py", "mcp.py", _NOT_RUNNING))
    for path in (wrapper_path(home), mcp_path(home), *ours):
        path.unlink(missing_ok=True)
    for name in (FIRED, TOLD):
        shutil.rmtree(folder / name, ignore_errors=True)


def packaged(name: str, package: str | None = _PACKAGE) -> str:
    """Return the text of a file that comes with a package."""
    return files(package or _PACKAGE).joinpath(name).read_text(encoding="utf-8")


def _hook() -> str:
    """Return the text of the hook, with what it has to know of each agent."""
    agents = known_agents()
    folders = {agent.name: agent.home_variable for agent in agents if agent.home_variable}
    events = {
        agent.name: {own: event for event, own in agent.events.items()}
        for agent in agents
        if agent.events
    }
    text = packaged("hook.py")
    for line, declared in ((_NO_FOLDERS, folders), (_NO_EVENTS, events)):
        assert text.count(line) == 1  # noqa: S101 - the two files belong together
        text = text.replace(line, line.removesuffix("{}") + repr(declared))
    return text


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _write(path: Path, text: str, mode: int) -> None:
    content = text.encode()
    if not path.exists() or path.read_bytes() != content:
        replace_file(path, content)
    if path.stat().st_mode & 0o777 != mode:
        os.chmod(path, mode)  # noqa: PTH101 - so that it stands beside the mode above
