"""The wheel: what it holds, and that an agent's installation of it is a light one."""

import email.message
import re
import zipfile

import pytest

import trackrecord
from tests.deployment.compose_file import ROOT

PACKAGES = {
    "trackrecord", "trackrecord_producers", "trackrecord_worker", "trackrecord_consolidation",
    "trackrecord_capture", "trackrecord_door", "trackrecord_cli",
}  # fmt: skip


@pytest.fixture(scope="module")
def names(wheel) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_packages_stand_at_top_level(names):
    """The seven packages and their metadata, and nothing else: no tests, no `worker` of ours."""
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES


def test_every_file_is_in_it(names):
    """No module of the source roots is left out, and nothing that stands beside the modules."""
    in_folders = {
        "/".join(path.relative_to(ROOT).parts[1:])
        for path in ROOT.glob("*/trackrecord_*/**/*")
        if path.is_file()
    }
    at_top = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "trackrecord").rglob("*")
        if path.is_file()
    }
    wanted = {name for name in in_folders | at_top if "__pycache__" not in name.split("/")}
    assert wanted <= set(names), wanted - set(names)
    assert len(wanted) > 500


def test_migrations_are_in_it(names):
    """A database can be created from the wheel alone."""
    assert "trackrecord/store/migrations/env.py" in names
    versions = [name for name in names if name.startswith("trackrecord/store/migrations/versions/")]
    assert any(name.endswith(".py") for name in versions)


def test_the_page_is_in_it(names):
    """Its templates, its style sheet and its script: there is no other place for them."""
    folder = ROOT / "door" / "trackrecord_door" / "page"
    files = [path for kind in ("templates", "static") for path in (folder / kind).rglob("*.*")]
    assert len(files) > 5
    for path in files:
        assert path.relative_to(ROOT / "door").as_posix() in names


def test_types_are_told(names):
    """Type checkers of whoever imports a package believe its annotations."""
    for package in PACKAGES:
        assert f"{package}/py.typed" in names


def test_no_tests_and_no_caches(names):
    """Nothing that only developers need; `trackrecord.testing` is for users."""
    parts = {part for name in names for part in name.split("/")}
    assert not parts & {"tests", "conftest.py", "__pycache__"}
    assert [part for part in parts if part.startswith("test_")] == []


def test_version_and_links_on_the_package_page(wheel):
    """The version is the package's own, and no link of the README needs a file beside it."""
    with zipfile.ZipFile(wheel) as archive:
        headers = _headers(archive)
    assert headers["Version"] == trackrecord.__version__
    links = re.findall(r"\]\(([^)\s]+)\)", headers.get_payload())
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def _headers(archive: zipfile.ZipFile) -> email.message.Message:
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_string(archive.read(name).decode())
