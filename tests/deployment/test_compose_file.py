"""docker-compose.yml and the Dockerfile, held against the code."""

import importlib.util
import re

import pytest

from tests.deployment.compose_file import COMPOSE_FILE, ROOT, Missing, read_compose
from tests.support.acl_file import acl_file
from trackrecord.settings.settings import ENV_PREFIX, Settings, load_settings
from trackrecord_cli.commands.start.up_ import HTTP_MODULE
from trackrecord_worker.checks.health import CHECKS
from trackrecord_worker.up.daemon import beat_command, worker_command

PASSWORDS = {
    "REDIS_AGENT_PASSWORD": "agent5ecret",
    "REDIS_WORKER_PASSWORD": "worker5ecret",
    "REDIS_ADMIN_PASSWORD": "admin5ecret",
    "POSTGRES_PASSWORD": "postgres5ecret",
    "HTTP_TOKEN": "http5ecret-token",
    "GRAFANA_PASSWORD": "grafana5ecret",
}
SERVICES = ["redis", "postgres", "worker", "beat", "http"]
# Started by their profile alone.
MONITORING = ["prometheus", "grafana"]
OURS = ["worker", "beat", "http"]


@pytest.fixture
def compose():
    return read_compose(PASSWORDS)


@pytest.fixture
def dockerfile():
    return (ROOT / "Dockerfile").read_text()


@pytest.mark.parametrize("name", SERVICES + MONITORING)
def test_each_service_is_watched_and_started_again(compose, name):
    """Each has a health check, comes back after a crash, has a version and a log that ends."""
    service = compose["services"][name]
    waited_for = {each: {"condition": "service_healthy"} for each in ("redis", "postgres")}
    assert name not in OURS or service["depends_on"] == waited_for
    check = service["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries", "start_period"} <= set(check)
    assert service["restart"] == "unless-stopped"
    assert service["logging"] == {
        "driver": "json-file",
        "options": {"max-size": "10m", "max-file": "3"},
    }
    assert re.search(r":v?\d+\.\d+\.\d+", service["image"])


def test_commands_are_those_of_up(compose):
    """The worker, beat and HTTP are started as `trackrecord up` starts them."""
    settings = load_settings()
    for name, expected in (
        ("worker", worker_command(settings)),
        ("beat", beat_command(settings)),
    ):
        command = compose["services"][name]["command"]
        assert ["python", *expected[1:]] == command
    # `up` hands down a socket as well, by its descriptor.
    assert compose["services"]["http"]["command"] == ["python", "-P", "-m", HTTP_MODULE]


@pytest.mark.parametrize("name", OURS)
def test_modules_that_are_run_exist(compose, name):
    """Every `python -m` of a command and of a health check names a module, or a check, of ours."""
    service = compose["services"][name]
    for command in (service["command"], service["healthcheck"]["test"][1:]):
        assert command[:3] == ["python", "-P", "-m"]
        assert importlib.util.find_spec(command[3]) is not None
    if name != "http":
        assert service["healthcheck"]["test"][5] in CHECKS


@pytest.mark.parametrize("name", OURS)
def test_every_setting_is_known(compose, name, monkeypatch):
    """The environment of ours is made of settings, and they are valid."""
    environment = compose["services"][name]["environment"]
    assert all(variable.startswith(ENV_PREFIX) for variable in environment)
    known = {ENV_PREFIX + field.upper() for field in Settings.model_fields}
    assert {variable.partition("__")[0] for variable in environment} <= known
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    settings = load_settings()
    assert settings.redis_url == "redis://worker:worker5ecret@redis:6379/0"
    assert settings.effective_database_url == (
        "postgresql+psycopg://trackrecord:postgres5ecret@postgres:5432/trackrecord"
    )


def test_no_secret_is_in_the_file():
    """Each password is a variable that must be set; but for Grafana's, nothing starts without."""
    for left_out in PASSWORDS.keys() - {"GRAFANA_PASSWORD"}:
        given = {name: value for name, value in PASSWORDS.items() if name != left_out}
        with pytest.raises(Missing, match=left_out):
            read_compose(given)
    text = COMPOSE_FILE.read_text()
    found = re.findall(r"(?:PASSWORD|AUTH|TOKEN): (.*)| on >(.*)", text)
    assert len(found) > 3
    for value in found:
        assert "".join(value).startswith("${")


def test_redis_keeps_what_it_acknowledged(compose):
    """Redis syncs each write and never throws an entry out."""
    command = compose["services"]["redis"]["command"]
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert command[0] == "redis-server"
    assert options["--appendonly"] == "yes"
    assert options["--appendfsync"] == "always"
    assert options["--maxmemory-policy"] == "noeviction"


def test_redis_has_the_users_that_are_shipped(compose):
    """Each with its password; readers are left out, and the default user is off."""
    redis = compose["services"]["redis"]
    options = dict(zip(redis["command"][1::2], redis["command"][2::2], strict=True))
    (users,) = redis["configs"]
    assert users["target"] == options["--aclfile"]
    shipped = [line for line in acl_file("trackrecord").splitlines() if "READER" not in line]
    for role in ("AGENT", "WORKER", "ADMIN"):
        password = PASSWORDS[f"REDIS_{role}_PASSWORD"]
        shipped = [line.replace(f"#{role}_PASSWORD", f">{password}") for line in shipped]
    assert compose["configs"][users["source"]]["content"].splitlines() == shipped
    assert shipped[0] == "user default reset off ~* &* +@all"


def test_ports_are_on_loopback_only(compose):
    """Only Redis, HTTP and Grafana are published, and only to this machine."""
    published = {
        name: service["ports"]
        for name, service in compose["services"].items()
        if "ports" in service
    }
    assert list(published) == ["redis", "http", "grafana"]
    for ports in published.values():
        assert all(port.startswith("127.0.0.1:") for port in ports)


def test_data_lies_in_volumes(compose):
    """What must survive a new container lies in a named volume; what is mounted exists."""
    for service in compose["services"].values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (ROOT / source).exists()
                assert volume.endswith(":ro")
            else:
                assert source in compose["volumes"]


def test_image_runs_without_root(dockerfile):
    """The last stage ends as a user of its own."""
    last_stage = dockerfile.rsplit("\nFROM ", 1)[1]
    users = re.findall(r"^USER (\S+)", last_stage, re.MULTILINE)
    assert users
    assert users[-1] not in ("root", "0")
