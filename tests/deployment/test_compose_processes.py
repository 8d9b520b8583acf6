"""What docker-compose.yml starts, started as plain processes: the same commands, real servers."""

import contextlib
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
import redis

from tests.deployment.compose_file import as_process, environment_of, read_compose, running
from tests.support.processes import free_port, until
from trackrecord_worker.up.server_binary import find_servers

pytestmark = pytest.mark.timeout(180)

_PATIENCE_S = 200.0
TOKEN = "aTokenOfTheTest-0123"  # noqa: S105 - as its name says


@dataclass
class Deployment:
    """Redis and PostgreSQL as in the compose file, and the environment of what uses them."""

    compose: dict
    folder: Path
    redis_port: int
    redis_process: subprocess.Popen
    database_url: str
    environment: dict[str, str]

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.environment["TRACKRECORD_REDIS_URL"])

    def command(self, service: str) -> list[str]:
        return as_process(self.compose["services"][service]["command"])

    def start(self, service: str, **changed: str):
        log = self.folder / f"{service}.log"
        return running(self.command(service), self.environment | changed, self.folder, log)

    def health(self, service: str, **changed: str) -> subprocess.CompletedProcess:
        """The service's health check, as Docker runs it."""
        test = self.compose["services"][service]["healthcheck"]["test"]
        return subprocess.run(
            as_process(test[1:]), env=self.environment | changed, cwd=self.folder, timeout=200,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def wait_until_healthy(self, service: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while (answer := self.health(service)).returncode != 0:
            assert time.monotonic() < deadline, answer.stderr + self.log(service)
            time.sleep(1)  # a check is a process, which takes time from the one it waits for

    def log(self, service: str) -> str:
        return (self.folder / f"{service}.log").read_text(errors="replace")


@pytest.fixture
def deployment(home, postgres_url):
    passwords = {
        "REDIS_AGENT_PASSWORD": "anAgentsPasswordOfTheTest",
        "REDIS_WORKER_PASSWORD": "aWorkersPasswordOfTheTest",
        "REDIS_ADMIN_PASSWORD": "anAdminsPasswordOfTheTest",
        "POSTGRES_PASSWORD": "unused",
        "HTTP_TOKEN": TOKEN,
    }
    compose = read_compose(passwords)
    port = free_port()
    environment = compose["services"]["worker"]["environment"]
    assert environment == compose["services"]["beat"]["environment"]
    environment = environment | {
        "TRACKRECORD_REDIS_URL": environment["TRACKRECORD_REDIS_URL"].replace(
            "@redis:6379", f"@127.0.0.1:{port}"
        ),
        "TRACKRECORD_DATABASE_URL": postgres_url,
        "TRACKRECORD_HOME": str(home),
    }
    data = home / "redis"
    data.mkdir()
    users = home / "users.acl"
    content = compose["configs"]["redis_users"]["content"]
    if find_servers()[0].version.number < (7, 0, 0):
        content = content.replace("%R~", "~")
    users.write_text(content)
    command = [str(find_servers()[0].path), *compose["services"]["redis"]["command"][1:]]
    command[command.index("--aclfile") + 1] = str(users)
    command += ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(data)]
    with running(command, os.environ, home, home / "redis.log") as process:
        made = Deployment(compose, home, port, process, postgres_url, environment_of(environment))
        _wait_for_redis(made)
        yield made


def _wait_for_redis(deployment: Deployment) -> None:
    def answers() -> bool:
        with contextlib.suppress(redis.ConnectionError), deployment.client() as client:
            return bool(client.ping())
        return False

    until(answers, explain=lambda: deployment.log("redis"))


def _publish(deployment: Deployment, outcome: dict) -> None:
    """As any language would: one XADD."""
    with deployment.client() as client:
        client.xadd("trackrecord:outcomes", {"v": "1", "body": json.dumps(outcome)})


def _wait_until(what, deployment: Deployment):
    return until(what, explain=lambda: deployment.log("worker"))


def _recorded(deployment: Deployment) -> list:
    url = deployment.database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url) as connection:
        try:
            return connection.execute(
                "SELECT projects.name, outcomes.outcome_id, outcomes.success"
                " FROM outcomes JOIN projects ON projects.id = outcomes.project_id"
            ).fetchall()
        except psycopg.errors.UndefinedTable:  # the worker has not migrated yet
            return []


def _cached(deployment: Deployment, project: str) -> dict | None:
    with deployment.client() as client:
        document = client.hget(f"trackrecord:rankings:{project}", "document")
    return json.loads(document) if document else None


def test_an_outcome_is_learnt_and_everything_stops_cleanly(deployment):
    """One XADD ends in PostgreSQL and in the cached rankings; SIGTERM ends all with status 0.

    A worker without its database is unhealthy, and both are without Redis; each says why.
    """
    with deployment.start("worker") as worker, deployment.start("beat") as beat:
        outcome = {
            "outcome_id": "first",
            "project": "fleet",
            "task_id": "t-1",
            "success": True,
            "strategy": "file-based",
        }
        _publish(deployment, outcome)

        assert _wait_until(lambda: _recorded(deployment), deployment) == [("fleet", "first", True)]
        document = _wait_until(lambda: _cached(deployment, "fleet"), deployment)
        assert document["patterns"]
        with deployment.client() as client:
            assert client.xlen("trackrecord:outcomes") == 0
        deployment.wait_until_healthy("worker")
        deployment.wait_until_healthy("beat")

        nowhere = f"postgresql://trackrecord@127.0.0.1:{free_port()}/trackrecord"
        answer = deployment.health("worker", TRACKRECORD_DATABASE_URL=nowhere)
        assert answer.returncode == 1
        assert "the database cannot be used" in answer.stderr

        for process in (beat, worker):
            process.send_signal(signal.SIGTERM)
        assert beat.wait(200) == 0, deployment.log("beat")
        assert worker.wait(200) == 0, deployment.log("worker")
    deployment.redis_process.kill()
    deployment.redis_process.wait()
    for service in ("worker", "beat"):
        answer = deployment.health(service)
        assert answer.returncode == 1
        assert "Redis cannot be reached" in answer.stderr


def test_beat_is_unhealthy_when_its_schedule_is_old(deployment):
    """A file that nobody writes to any more is not taken for a living beat.

    Nor is one from before the machine was started, or a damaged one.
    """
    file = deployment.folder / "celerybeat-schedule"
    now = time.monotonic()
    file.write_text(f"{now}\n")
    assert deployment.health("beat").returncode == 0
    for written, said in (
        (f"{now - 3600}\n", "celerybeat-schedule 36"),
        (f"{now + 3600}\n", "beat has not written to "),
        ("", "beat has not written to "),
    ):
        file.write_text(written)
        answer = deployment.health("beat")
        assert answer.returncode == 1
        assert said in answer.stderr


def test_http_answers_those_who_have_the_token(deployment):
    """As in its container, on all addresses; its health check knows the token, too."""
    port = free_port()
    declared = deployment.compose["services"]["http"]["environment"]
    settings = {name: text for name, text in declared.items() if "HTTP__" in name}
    settings["TRACKRECORD_HTTP__PORT"] = str(port)
    assert deployment.health("http", **settings).returncode == 1
    with deployment.start("http", **settings) as process:
        _wait_until(lambda: deployment.health("http", **settings).returncode == 0, deployment)
        answer = httpx.get(f"http://127.0.0.1:{port}/health", timeout=30)
        assert answer.status_code == 401
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        answer = httpx.get(f"http://127.0.0.1:{port}/health", headers=bearer, timeout=30)
        assert answer.status_code == 200
        wrong = settings | {"TRACKRECORD_HTTP__TOKEN": TOKEN[::-1]}
        assert "status 401" in deployment.health("http", **wrong).stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(200) == 0, deployment.log("http")
