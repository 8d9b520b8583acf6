"""A front door in a process of its own, and what it has taken."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.door.raw_http import OWN_TOKEN
from tests.support.no_tls import NO_TLS
from tests.support.processes import end, until
from trackrecord.process.folders import open_private
from trackrecord.settings.daemon_settings import HttpSettings
from trackrecord_door.protocol.listening import listen, url_of

_SCRIPT = Path(__file__).with_name("recording_door.py")


class Door:
    """A running front door, and what it has taken.

    Attributes:
        url: with the credential of the user who runs it, whose client most tests are.
        address: the same without it.

    Args:
        folder: for its files.
        http: its settings.
        arguments: further ones for the process.
        project: the settings' project.
    """

    def __init__(
        self, folder: Path, http: HttpSettings | None = None, *arguments: str,
        project: str = "default",
    ) -> None:  # fmt: skip
        http = http or HttpSettings(port=0)
        self.home = folder
        self.taken_file = folder / "taken.jsonl"
        self.log_file = folder / "door.log"
        listener = listen(http, lambda: True)
        self.address = url_of(listener)
        self.url = self.address.replace("//", f"//me:{http.token or OWN_TOKEN}@")
        with open_private(folder / "http-token") as file:
            file.truncate(0)
            file.write(f"{OWN_TOKEN}\n")
        self.port = listener.getsockname()[1]
        environment = {
            **os.environ,
            "TRACKRECORD_HOME": str(folder),
            "TRACKRECORD_PROJECT": project,
            "TRACKRECORD_HTTP__HOST": http.host,
            "TRACKRECORD_HTTP__NAMES": json.dumps(http.names),
            "TRACKRECORD_HTTP__OPEN_TO_LOCAL_USERS": str(http.open_to_local_users),
        }
        if http.token is not None:
            environment["TRACKRECORD_HTTP__TOKEN"] = http.token
        with self.log_file.open("wb") as log, listener:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    str(_SCRIPT),
                    str(listener.fileno()),
                    str(self.taken_file),
                    *arguments,
                ],
                env=environment,
                pass_fds=(listener.fileno(),),
                stdout=log,
                stderr=log,
            )

    def __enter__(self) -> "Door":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def client(self, path: str = "", *, timeout: float = 60.0, **given: Any) -> httpx.Client:
        """Return a client of the user who runs it, below a path; another one's with an address."""
        url = given.pop("base_url", self.url) + path
        return httpx.Client(base_url=url, timeout=timeout, verify=NO_TLS, **given)

    def stranger(self, **given: Any) -> httpx.Client:
        """Return a client that sends no credential of its own accord."""
        return self.client(base_url=self.address, **given)

    @property
    def log(self) -> str:
        """All that it has logged."""
        return self.log_file.read_text(errors="replace")

    def taken(self, kind: str) -> list:
        """Return what the receiver took: of the kind "span", "log", "hook" or "closed"."""
        if not self.taken_file.exists():
            return []
        lines = [json.loads(line) for line in self.taken_file.read_text().splitlines()]
        return [line["item"] for line in lines if line["kind"] == kind]

    def forget(self) -> None:
        """Forget what its receiver took, and make it well again."""
        for switch in self.home.glob(f"{self.taken_file.stem}.*"):
            if switch != self.taken_file:
                switch.unlink()
        self.taken_file.write_bytes(b"")

    def switch(self, name: str, on: bool) -> None:
        """Make the receiver "full", "slow", "broken" or its disk "lost", or well again."""
        path = self.taken_file.with_suffix(f".{name}")
        if on:
            path.touch()
        else:
            path.unlink()

    def until(self, what: Callable[[], object]) -> None:
        """Wait until something is true."""
        until(what, explain=lambda: self.log)

    def rss_mib(self) -> float:
        """The memory that it has in use."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
        return int(line.split()[1]) / 1024

    def end(self) -> None:
        """End it, in order if possible."""
        end(self.process)
