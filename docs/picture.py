"""Takes the picture in docs/page.md: `python docs/picture.py`.

A simulated fleet reports to a real trackrecord, and Chromium shows the page. With the path of
another page and the name of another file, it takes a picture of that.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from playwright.sync_api import sync_playwright

from trackrecord_cli.demo.planted import PROJECT

_PICTURE = Path(__file__).with_name("page.png")
_WINDOW = {"width": 1120, "height": 760}
_BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome", "chromium-browser")
_OUTCOMES = 9000
_PATIENCE_S = 300.0
# A picture belongs to every copy of the repository.
_LARGEST_BYTES = 120_000


class Trackrecord:
    """A `trackrecord up` with a home of its own.

    Args:
        home: its home.
    """

    def __init__(self, home: Path) -> None:
        self._environment = {**os.environ, "TRACKRECORD_HOME": str(home)}
        self._log = home / "up.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "trackrecord_cli", "up"],
                env=self._environment | {"TRACKRECORD_HTTP__PORT": "0"},
                stdout=log,
                stderr=log,
            )

    def url(self) -> str:
        """Return the address of its page, as soon as it has one."""
        self._until(lambda: "HTTP: " in self._log.read_text())
        return self._log.read_text().partition("HTTP: ")[2].splitlines()[0]

    def link(self) -> str:
        """Return a link that opens the page, once."""
        without_browser = {"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
        return subprocess.check_output(
            [sys.executable, "-m", "trackrecord_cli", "open"],
            env=self._environment | without_browser,
            text=True,
        ).strip()

    def report(self, outcomes: int) -> None:
        """Have a simulated agent report, and wait until everything is learnt."""
        known = self._learnt()
        options = ["--seed", "1", "--agent", "0", "--outcomes", str(outcomes)]
        self._run("trackrecord_cli.demo.agent", *options)
        self._until(lambda: self._learnt() >= known + outcomes)

    def until_advised(self) -> None:
        """Wait until prompts contain what was learnt."""
        asked = ("rankings", "--project", PROJECT, "--format", "prompt")
        self._until(lambda: b"Tool Procedures" in self.command(*asked))

    def command(self, *arguments: str) -> bytes:
        """Run a command; return its output."""
        return self._run("trackrecord_cli", *arguments)

    def end(self) -> None:
        """End it in order."""
        self._process.terminate()
        self._process.wait(_PATIENCE_S)

    def _learnt(self) -> int:
        projects = msgspec.json.decode(self.command("projects", "--json"))
        return sum(project["outcomes"] for project in projects)

    def _run(self, module: str, *arguments: str) -> bytes:
        ran = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=self._environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        return ran.stdout

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not condition():
            if time.monotonic() > deadline or self._process.poll() is not None:
                sys.exit(self._log.read_text())
            time.sleep(0.5)


def teach(running: Trackrecord) -> None:
    """Let a fleet work, and what it reports be learnt."""
    running.report(_OUTCOMES)
    running.command("consolidate", "--project", PROJECT)
    running.until_advised()
    memory = "The integration tests need port 5432"
    running.command("memories", "add", memory, "--project", PROJECT)


def photograph(link: str, url: str, picture: Path) -> None:
    """Show a page in a browser, and save a picture of it."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser on the PATH: install one of {', '.join(_BROWSERS)}")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser)
        page = launched.new_page(viewport=_WINDOW, reduced_motion="reduce")  # type: ignore[arg-type]
        page.goto(link, wait_until="networkidle")
        page.goto(url, wait_until="networkidle")
        page.screenshot(path=picture)
        launched.close()


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description="Take the picture in docs/page.md.")
    parser.add_argument("path", nargs="?", default="/", help="the page; / by default")
    parser.add_argument("picture", nargs="?", type=Path, default=_PICTURE, help="the file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        running = Trackrecord(Path(folder))
        try:
            url = running.url()
            teach(running)
            photograph(running.link(), url + given.path, given.picture)
        finally:
            running.end()
    size = given.picture.stat().st_size
    sys.stdout.write(f"{given.picture}: {size} bytes\n")
    if size > _LARGEST_BYTES:
        sys.exit(f"it has more than {_LARGEST_BYTES} bytes: photograph less")


if __name__ == "__main__":
    main()
