"""The project of a run, from its folder."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.project_names import checked_project
from trackrecord_capture.projects import project_of, repository_name


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    command = ["git", "-C", folder, *identity, *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and a remote."""
    top = tmp_path / "shop"
    (top / "src" / "deep").mkdir(parents=True)
    _git(top, "init", "-q")
    _git(top, "remote", "add", "origin", "git@example.com:team/other.git")
    _git(top, "commit", "-q", "--allow-empty", "-m", "x")
    return top


def test_a_folder_within_a_repository(repository: Path):
    """The name of the top level, from whichever folder below it, also from one that is gone."""
    for folder in (repository, repository / "src" / "deep", repository / "gone" / "away"):
        assert project_of(str(folder)) == "shop"


def test_a_worktree_belongs_to_its_repository(repository: Path, tmp_path: Path):
    """Worktrees of one repository are one project."""
    _git(repository, "worktree", "add", "-q", str(tmp_path / "wt" / "topic"))
    assert project_of(str(tmp_path / "wt" / "topic")) == "shop"


def test_a_bare_repository_with_worktrees(repository: Path, tmp_path: Path):
    """The repository's own name, without its ending."""
    _git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "central.git"))
    _git(tmp_path / "central.git", "worktree", "add", "-q", str(tmp_path / "main"))
    assert project_of(str(tmp_path / "main")) == "central"


def test_without_a_repository(tmp_path: Path):
    """What the source says of the repository, or else the folder's own name."""
    folder = tmp_path / "notes"
    assert project_of(str(folder)) == "notes"
    assert project_of(str(folder), "https://example.com/team/shop.git") == "shop"
    assert project_of("", "team/shop") == "shop"
    assert project_of("C:\\work\\thing") == "thing"
    assert project_of("") == "default"
    assert project_of("/") == "default"


def test_a_mapping_wins(repository: Path):
    """The innermost folder that is mapped counts, and a name that only begins alike does not."""
    mapping = {str(repository): "a", str(repository / "src"): "b"}
    assert project_of(str(repository / "src" / "deep"), mapping=mapping) == "b"
    assert project_of(str(repository / "srcs"), mapping=mapping) == "a"
    assert project_of(f"{repository}-2", mapping=mapping) == "shop-2"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git@example.com:team/shop.git", "shop"),
        ("ssh://git@example.com/team/shop", "shop"),
        ("https://user:pw@example.com/shop.git/", "shop"),
        ("shop", "shop"),
        ("", ""),
    ],
)
def test_names_of_repositories(address: str, name: str):
    """The last part, without its ending."""
    assert repository_name(address) == name


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_gives_a_valid_name(folder: str, repository: str):
    """Whatever a source says, the project can be published."""
    assert checked_project(project_of(folder, repository))
