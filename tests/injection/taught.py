"""A real `trackrecord up` that learns the whole corpus by each path, 90 strings to a project."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import httpx
from no_tls import NO_TLS
from own_token import of_its_user
from paths import (
    CALM,
    CHUNK,
    CORPUS,
    PATHS,
    projects_of,
    put_on_stream,
    runs_of,
    traces_of,
    write_transcripts,
)
from sqlalchemy import func, select

from trackrecord.redis_client import worker_client
from trackrecord.settings import Settings, load_settings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord_worker import jobs
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services

_PATIENCE_S: Final = 300.0


class Learnt(NamedTuple):
    """A running `trackrecord up`, and what it has learnt.

    Attributes:
        settings: of its processes.
        url: of its front door, with the credential of its user.
        log: what all its processes logged.
    """

    settings: Settings
    url: str
    log: Path


@contextmanager
def learning_everything() -> Iterator[Learnt]:
    """Yield it when everything is learnt; it is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        log = home / "up.log"
        settings = load_settings(
            home=home,
            drain_block_s=0.05,
            log_level="debug",
            hooks={"session_tokens": 2000, "prompt_tokens": 2000},
            traces={"settle_s": 1.0},
            http={"port": 0},
        )
        with _up(settings, log) as url:
            _teach(settings, url, home)
            yield Learnt(settings, url, log)


@contextmanager
def _up(settings: Settings, log: Path) -> Iterator[str]:
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "trackrecord_cli", "up"],
            env={**os.environ, **settings.as_environment()},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        until(lambda: "HTTP: http://" in log.read_text() or process.poll() is not None)
        said = log.read_text()
        yield of_its_user(said.partition("HTTP: ")[2].splitlines()[0], settings.home)
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "this did not happen in time"
        time.sleep(0.05)


def _teach(settings: Settings, url: str, home: Path) -> None:
    wanted = sum(len(runs_of(path)) for path in ("traces", "transcript")) * len(CORPUS)
    with worker_client(settings) as client, httpx.Client(base_url=url, verify=NO_TLS) as http:
        for start in range(0, len(CORPUS), CHUNK):
            numbers = range(start, min(start + CHUNK, len(CORPUS)))
            answer = http.post("/v1/traces", json=traces_of("traces", numbers), timeout=60)
            assert answer.status_code == 200, answer.text
        wanted += put_on_stream(client, settings)
        transcripts = str(write_transcripts(home / "transcripts"))
        subprocess.run(
            [sys.executable, "-m", "trackrecord_cli", "import", "claude-code", transcripts],
            env={**os.environ, **settings.as_environment()},
            check=True,
            capture_output=True,
        )
        worker = Services(settings, create_app(settings))
        try:
            until(lambda: recorded(worker) >= wanted)
            until(lambda: not client.xlen(settings.keys.outcomes))
            assert client.xlen(settings.keys.dead) == len(CORPUS)
            jobs.consolidate_all_projects(worker)
            for project in (CALM, *(name for path in PATHS for name in projects_of(path))):
                worker.adviser.advise(project)
                worker.refresher.refresh(project)
        finally:
            worker.redis.close()
            worker.engine.dispose()


def recorded(worker: Services, project: str | None = None) -> int:
    """Return how many outcomes are on record, of one project or of all."""
    wanted = select(func.count()).select_from(outcomes.join(projects))
    if project is not None:
        wanted = wanted.where(projects.c.name == project)
    with reading(worker.engine) as connection:
        return int(connection.execute(wanted).scalar() or 0)
