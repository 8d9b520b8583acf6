"""The wheel: what it holds, and that an agent's installation of it is a light one."""

import email.message
import json
import re
import subprocess
import sys
import textwrap
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import trackrecord
from tests.deployment.compose_file import ROOT

PACKAGES = {
    "trackrecord",
    "trackrecord_producers",
    "trackrecord_worker",
    "trackrecord_consolidation",
    "trackrecord_capture",
    "trackrecord_door",
    "trackrecord_cli",
}


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


def test_an_agent_needs_few_packages(wheel, tmp_path):
    """With the declared dependencies alone an agent publishes, attempts, and asks for rankings.

    Nothing else can be imported: no Celery, no SQLAlchemy, no click, no structlog.
    """
    target, links, home = tmp_path / "target", tmp_path / "links", tmp_path / "home"
    target.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
        required = _declared(archive)
    _link_closure(required, links)
    script = textwrap.dedent("""
        import json, sys
        sys.path[:0] = sys.argv[1:]
        import trackrecord
        published = trackrecord.publish(task_id="t-1", success=True, strategy="file-based")
        with trackrecord.attempt("t-2") as attempt:
            attempt.tool("grep", ok=True)
        spooled = trackrecord.spool(task_id="t-3", success=False)
        trackrecord.flush(10)
        answer = trackrecord.rankings(task="fix the build")
        own = {"id": "now", "kind": "task", "text": "Fix the build"}
        prompt = trackrecord.context(candidates=[own], budget=100).prompt
        heavy = ["alembic", "celery", "click", "rich", "sqlalchemy", "structlog"]
        print(json.dumps({
            "published": published, "spooled": spooled, "dropped": trackrecord.dropped(),
            "problem": answer.problem, "prompt": prompt,
            "heavy": [name for name in heavy if name in sys.modules],
        }))
    """)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", script, target, links],
        env={"TRACKRECORD_HOME": str(home), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["published"]
    assert answer["spooled"]
    assert answer["dropped"] == {}
    assert answer["heavy"] == []
    assert answer["prompt"] == "## Tasks\n\nFix the build"
    assert "redis is unavailable" in answer["problem"]
    lines = [line for file in (home / "spool").iterdir() for line in file.read_text().splitlines()]
    assert sorted(json.loads(line)["body"]["task_id"] for line in lines) == ["t-1", "t-2", "t-3"]


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


def _declared(archive: zipfile.ZipFile) -> list[Requirement]:
    """Return the wheel's requirements without extras."""
    found = [Requirement(line) for line in _headers(archive).get_all("Requires-Dist")]
    return [each for each in found if each.marker is None or each.marker.evaluate({"extra": ""})]


def _link_closure(required: list[Requirement], folder: Path) -> None:
    """Put the distributions, and what they need in turn, where nothing else is."""
    folder.mkdir()
    seen: set[str] = set()
    waiting = list(required)
    while waiting:
        requirement = waiting.pop()
        name = requirement.name.lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        distribution = metadata.distribution(name)
        for top in {path.parts[0] for path in distribution.files or []} - {"..", "__pycache__"}:
            link = folder / top
            if not link.exists():
                link.symlink_to(distribution.locate_file(top))
        for line in distribution.requires or []:
            each = Requirement(line)
            extras = {"", *requirement.extras}
            if each.marker is None or any(each.marker.evaluate({"extra": x}) for x in extras):
                waiting.append(each)
