"""Have the system start `trackrecord up` at login: systemd's user services, and macOS's launchd."""

import getpass
import os
import plistlib
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from trackrecord.process.folders import folder_name
from trackrecord.process.python_command import python_command
from trackrecord.settings.agent_settings import default_home

_HOME_VARIABLE: Final = "TRACKRECORD_HOME"
_OURS: Final = "Written by `trackrecord install --service`."
_LINGERING: Final = Path("/var/lib/systemd/linger")
_TIMEOUT_S: Final = 60.0
_UNIT: Final = Path(__file__).with_name("trackrecord.service")


class Service(NamedTuple):
    """The service of a home, in the form that a system knows.

    Attributes:
        path: its file.
        text: what belongs into it.
        begin: the commands that have the system start it, now and at each login.
        end: the command that ends that.
    """

    path: Path
    text: str
    begin: tuple[tuple[str, ...], ...]
    end: tuple[tuple[str, ...], ...]

    @property
    def is_installed(self) -> bool:
        """Return whether its file is there, and ours."""
        try:
            return _OURS in self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return False


def service_of(home: Path, platform: str = sys.platform) -> Service:
    """Return the service of a home; of another home than the usual one it has another name."""
    own = home.resolve() == default_home().resolve()
    name = "trackrecord" if own else f"trackrecord-{folder_name(str(home))[-8:]}"
    return _of_launchd(name, home) if platform == "darwin" else _of_systemd(name, home)


def install_service(service: Service) -> str | None:
    """Write a service and have it started; return the line to type if that fails.

    Raises:
        OSError: its file cannot be written.
    """
    service.path.parent.mkdir(parents=True, exist_ok=True)
    service.path.write_text(service.text, encoding="utf-8")
    return _carried_out(service.begin)


def uninstall_service(service: Service) -> str | None:
    """End a service and remove its file; return the line to type if that fails.

    Raises:
        OSError: its file cannot be removed.
    """
    left = _carried_out(service.end)
    service.path.unlink(missing_ok=True)
    return left


def unseen_settings() -> list[str]:
    """Return the variables with settings that a service does not see."""
    return sorted(
        name for name in os.environ if name.startswith("TRACKRECORD_") and name != _HOME_VARIABLE
    )


def ends_with_login() -> bool:
    """Return whether services of this user end with the last login."""
    return sys.platform != "darwin" and not (_LINGERING / getpass.getuser()).exists()


def _of_systemd(name: str, home: Path) -> Service:
    configured = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    command = python_command("trackrecord_cli", "up")
    text = _UNIT.read_text(encoding="utf-8").format(
        ours=_OURS,
        environment=" ".join(_quoted("=".join(each)) for each in _environment(home).items()),
        # A dollar sign is a variable there, and only there.
        command=" ".join(_quoted(word).replace("$", "$$") for word in command),
    )
    systemctl = ("systemctl", "--user")
    unit = f"{name}.service"
    return Service(
        Path(configured) / "systemd" / "user" / unit,
        text,
        ((*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", unit)),
        ((*systemctl, "disable", "--now", unit),),
    )


def _of_launchd(name: str, home: Path) -> Service:
    label = f"io.{name}"
    path = Path.home() / "Library" / "LaunchAgents" / f"{label}.plist"
    wanted = {
        "Label": label,
        # It keeps a log of its own, of bounded size.
        "ProgramArguments": python_command("trackrecord_cli", "up", "--in-background"),
        "EnvironmentVariables": _environment(home),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 30,
        "ExitTimeOut": 90,
        "Comment": _OURS,
    }
    domain = f"gui/{os.getuid()}"
    return Service(
        path,
        plistlib.dumps(wanted).decode(),
        (("launchctl", "bootstrap", domain, str(path)),),
        (("launchctl", "bootout", f"{domain}/{label}"),),
    )


def _environment(home: Path) -> dict[str, str]:
    """Return the variables of a service: with the PATH of now it finds the same programs."""
    return {_HOME_VARIABLE: str(home), "PATH": os.environ.get("PATH", os.defpath)}


def _quoted(word: str) -> str:
    """Return a word as systemd reads it: quoted, without its own meaning of a percent sign."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _carried_out(commands: tuple[tuple[str, ...], ...]) -> str | None:
    """Run commands; return all of them as a line to type where one fails or is not there."""
    try:
        for command in commands:
            subprocess.run(  # noqa: S603 - the system's own command
                command, check=True, capture_output=True, timeout=_TIMEOUT_S
            )
    except (OSError, subprocess.SubprocessError):
        return " && ".join(map(shlex.join, commands))
    return None
