"""The project of a run, from its folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trackrecord.learning.text.project_names import checked_project
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord_capture.projects import RunProjects


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    command = ["git", "-C", folder, *identity, *words]
    subprocess.run(command, check=True, capture_output=True)


def _folder(tmp_path: Path, *parts: str) -> Path:
    folder = tmp_path.joinpath(*parts)
    folder.mkdir(parents=True)
    return folder


def _repository(tmp_path: Path, *parts: str, remote: str = "") -> Path:
    """Make a repository with one commit."""
    folder = _folder(tmp_path, *parts)
    _git(folder, "init", "-q")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    if remote:
        _git(folder, "remote", "add", "origin", remote)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and a remote."""
    top = _repository(tmp_path, "shop", remote="git@example.com:team/store.git")
    (top / "src" / "deep").mkdir(parents=True)
    return top


@pytest.fixture
def projects(tmp_path: Path) -> RunProjects:
    """Projects of a home that remembers whose a name is."""
    return RunProjects(claims=ProjectClaims(tmp_path / "home"))


def _project(folder: str, repository: str = "", mapping: dict[str, str] | None = None) -> str:
    return RunProjects(mapping).of(folder, repository)


def test_a_folder_within_a_repository(repository: Path):
    """The name of its remote, from whichever folder below it, also from one that is gone."""
    for folder in (repository, repository / "src" / "deep", repository / "gone" / "away"):
        assert _project(str(folder)) == "store"


def test_a_repository_without_a_remote(tmp_path: Path):
    """The name of the top level."""
    _repository(tmp_path, "shop")
    assert _project(str(tmp_path / "shop" / "src")) == "shop"


def test_a_worktree_belongs_to_its_repository(tmp_path: Path, projects: RunProjects):
    """Worktrees of one repository are one project."""
    shop = _repository(tmp_path, "shop")
    _git(shop, "worktree", "add", "-q", str(tmp_path / "wt" / "topic"))
    assert projects.of(str(shop)) == "shop"
    assert projects.of(str(tmp_path / "wt" / "topic")) == "shop"


def test_a_bare_repository_with_worktrees(tmp_path: Path, projects: RunProjects):
    """The repository's own name, without its ending; a clone of it is the same project."""
    shop = _repository(tmp_path, "shop")
    _git(tmp_path, "clone", "-q", "--bare", str(shop), str(tmp_path / "central.git"))
    _git(tmp_path / "central.git", "remote", "remove", "origin")
    _git(tmp_path / "central.git", "worktree", "add", "-q", str(tmp_path / "main"))
    _git(tmp_path, "clone", "-q", str(tmp_path / "central.git"), str(tmp_path / "copy"))
    assert projects.of(str(tmp_path / "main")) == "central"
    assert projects.of(str(tmp_path / "copy")) == "central"


def test_clones_share_a_project(repository: Path, tmp_path: Path, projects: RunProjects):
    """However their remotes are spelt, also a clone of a clone on this machine."""
    _git(tmp_path, "clone", "-q", str(repository), str(tmp_path / "copy"))
    _repository(tmp_path, "elsewhere", "any", remote="https://u:pw@Example.com:443/team/store/")
    folders = (repository, tmp_path / "copy", tmp_path / "elsewhere" / "any")
    assert {projects.of(str(each)) for each in folders} == {"store"}
    assert projects.of("/gone", "ssh://git@example.com/team/store.git") == "store"


def test_a_name_belongs_to_its_first_repository(tmp_path: Path, projects: RunProjects):
    """Another one gets a suffix, always the same one, whichever is seen first later."""
    first = _repository(tmp_path, "mine", "api", remote="git@example.com:mine/api.git")
    others = [
        _repository(tmp_path, "theirs", "api", remote="git@example.com:theirs/api.git"),
        _repository(tmp_path, "without remote", "api"),
        _folder(tmp_path, "no repository", "api"),
    ]
    assert projects.of(str(first)) == "api"
    named = [projects.of(str(each)) for each in others]
    assert len({"api", *named}) == 4
    assert all(re.fullmatch("api-[0-9a-f]{4}", name) for name in named)
    again = RunProjects(claims=ProjectClaims(tmp_path / "home"))
    assert [again.of(str(each)) for each in (*others, first)] == [*named, "api"]


def test_no_file_makes_a_folder_a_part_of_another_repository(tmp_path: Path, projects: RunProjects):
    """What a `.git` file says counts if the repository that it names says the same."""
    payroll = _repository(tmp_path, "payroll")
    _git(payroll, "worktree", "add", "-q", str(tmp_path / "real"))
    assert projects.of(str(payroll)) == "payroll"
    worktree = (tmp_path / "real" / ".git").read_text()
    foreign = _folder(tmp_path, "foreign")
    fake = _folder(tmp_path, "foreign", "fake", "worktrees", "x")
    (fake / "commondir").write_text(str(payroll / ".git"))
    (fake / "gitdir").write_text(str(foreign / ".git"))
    for said in (worktree, f"gitdir: {payroll}/.git", f"gitdir: {fake}"):
        (foreign / ".git").write_text(said)
        assert projects.of(str(foreign)) == "foreign"


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path, projects: RunProjects):
    """Git writes into its files where it is."""
    library = _repository(tmp_path, "library")
    shop = _repository(tmp_path, "shop")
    add = ("submodule", "--quiet", "add", str(library), "vendored")
    _git(shop, "-c", "protocol.file.allow=always", *add)
    assert (shop / "vendored" / ".git").is_file()
    assert projects.of(str(library)) == projects.of(str(shop / "vendored")) == "library"


def test_no_repository_gets_the_project_of_outcomes_without_one(
    tmp_path: Path, projects: RunProjects
):
    """The name `default` is nobody's."""
    assert projects.of("") == "default"
    assert re.fullmatch("default-[0-9a-f]{4}", projects.of(str(tmp_path / "default")))


def test_pipes_are_not_waited_for(tmp_path: Path):
    """A foreign folder may hold one in the place of any of git's files."""
    os.mkfifo(_folder(tmp_path, "one") / ".git")
    os.mkfifo(_folder(tmp_path, "two", ".git") / "config")
    assert (_project(str(tmp_path / "one")), _project(str(tmp_path / "two"))) == ("one", "two")


def test_what_feeds_a_project_is_on_record(tmp_path: Path):
    """Its repository and its folders, with a remark where it did not get its name."""
    claims = ProjectClaims(tmp_path / "home")
    mapped = tmp_path / "mapped"
    projects = RunProjects({str(mapped): "mine"}, claims)
    a, b = tmp_path / "a" / "api", tmp_path / "b" / "api"
    for folder in (a, b, mapped / "deep"):
        projects.of(str(folder))
    first, second, third = claims.origins()
    assert (first.project, first.folders, first.is_renamed) == ("api", (str(a),), False)
    assert second.is_renamed
    assert str(b) in second.remark
    assert (third.project, third.repository, third.folders) == ("mine", "", (f"{mapped}/deep",))
    claims.forget("api")
    assert [each.project for each in claims.origins()] == [second.project, "mine"]
    assert str(a).encode() not in (tmp_path / "home" / "projects.db").read_bytes()
    assert (tmp_path / "home" / "projects.db").stat().st_mode & 0o777 == 0o600


def test_processes_that_claim_a_name_at_once_agree(tmp_path: Path):
    """One of several repositories has the name."""
    code = (
        "import pathlib, sys\n"
        "from trackrecord.settings.projects.project_claims import ProjectClaims\n"
        "from trackrecord_capture.projects import RunProjects\n"
        "projects = RunProjects(claims=ProjectClaims(pathlib.Path(sys.argv[1])))\n"
        "sys.stdin.readline()\n"
        "print(*(projects.of(f'/gone/{i}/api') for i in range(20)))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "home")]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = {process.communicate()[0] for process in started}
    assert len(answers) == 1
    names = answers.pop().split()
    assert len(set(names)) == 20
    assert names.count("api") == 1


def test_without_a_repository(tmp_path: Path):
    """What the source says of the repository, or else the folder's own name."""
    folder = tmp_path / "notes"
    assert _project(str(folder)) == "notes"
    assert _project(str(folder), "https://example.com/team/shop.git") == "shop"
    assert _project("", "team/shop") == "shop"
    assert _project("C:\\work\\thing") == "thing"
    assert _project("") == "default"
    assert _project("/") == "default"


def test_a_mapping_wins(repository: Path):
    """The innermost folder that is mapped counts, and a name that only begins alike does not."""
    mapping = {str(repository): "a", str(repository / "src"): "b"}
    assert _project(str(repository / "src" / "deep"), mapping=mapping) == "b"
    assert _project(str(repository / "srcs"), mapping=mapping) == "a"
    assert _project(f"{repository}-2", mapping=mapping) == "shop-2"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(folder=st.text(max_size=300), repository=st.text(max_size=300))
def test_any_text_gives_a_valid_name(projects: RunProjects, folder: str, repository: str):
    """Whatever a source says, the project can be published."""
    assert checked_project(projects.of(folder, repository))


def test_a_name_that_a_program_gave_is_no_repositorys(repository: Path, projects: RunProjects):
    """It gets a suffix, as it would beside another repository; one that had it before keeps it."""
    assert projects.named("store") == "store"
    assert re.fullmatch(r"store-[0-9a-f]{4}", projects.of(str(repository)))
    other = _repository(repository.parent, "other")
    assert projects.of(str(other)) == "other"
    assert projects.named("other") == "other"
    assert projects.of(str(other)) == "other"


@pytest.mark.parametrize(
    "gone",
    [
        "{src}/shop/.worktrees/3", "{src}/shop/.claude/worktrees/feat/src/deep",
        "{src}/shop/.conductor/lagos", "{src}/shop.worktrees/fix-login",
        "{src}/shop-worktrees/fix-login/src", "/home/ann/.cursor/worktrees/shop/k3Xp1",
        "/home/ann/.codex/worktrees/8f2c/shop", "/Users/ann/worktrees/shop/topic",
        "/Users/ann/conductor/workspaces/shop/lagos", "C:\\Users\\ann\\.cursor\\worktrees\\shop\\1",
    ],
)  # fmt: skip
def test_the_path_of_a_gone_worktree_names_its_repository(
    gone: str, repository: Path, projects: RunProjects
):
    """Whichever client made it: by its place, or by the repository's name in a client's folder."""
    assert projects.of(str(repository)) == "store"
    assert projects.of(gone.format(src=repository.parent), has_git=True) == "store"


def test_what_is_gone_belongs_where_it_was(repository: Path, tmp_path: Path):
    """A worktree in any place, and folders of a checkout, for every process from then on."""
    _git(repository, "worktree", "add", "-q", str(tmp_path / "any" / "sibling"))
    first = RunProjects(claims=ProjectClaims(tmp_path / "home"))
    assert first.of(str(tmp_path / "any" / "sibling")) == first.of(str(repository)) == "store"
    for folder in (tmp_path / "any", repository):
        shutil.rmtree(folder)
    later = RunProjects(claims=ProjectClaims(tmp_path / "home"))
    for gone in (tmp_path / "any" / "sibling" / "api", repository / "src" / "deep"):
        assert later.of(str(gone), has_git=True) == "store"


def test_folders_of_a_checkout_that_nobody_has_seen(projects: RunProjects):
    """Sources say that git had it; what was read before the checkout itself is asked again."""
    assert projects.of("/gone/shop/api", has_git=True) == "api"
    assert projects.of("/gone/tools/lint", "git@example.com:x/lint.git", has_git=True) == "lint"
    first = projects.take_answers()
    assert projects.of("/gone/shop", has_git=True) == "shop"
    assert projects.of("/gone/tools", has_git=True) == "tools"
    assert projects.are_outdated(first)
    assert projects.of("/gone/shop/api", has_git=True) == "shop"
    assert projects.of("/gone/tools/lint", "git@example.com:x/lint.git", has_git=True) == "lint"
    # A folder that holds repositories is none.
    assert projects.of("/gone/work") == "work"
    assert projects.of("/gone/work/api", has_git=True) == "api"
    assert projects.of("/home/ann", has_git=True) == "ann"
    assert projects.of("/home/ann/notes", has_git=True) == "notes"


def test_a_renamed_repository_keeps_its_project(
    repository: Path, tmp_path: Path, projects: RunProjects
):
    """With another remote and in another folder; a copy, and one made anew in its place, do not."""
    copy = shutil.copytree(repository, tmp_path / "copy")
    _git(copy, "remote", "set-url", "origin", "git@example.com:team/other.git")
    assert projects.of(str(repository)) == "store"
    _git(repository, "remote", "set-url", "origin", "git@example.com:team/market.git")
    assert projects.of(str(repository)) == "store"
    assert projects.of("/elsewhere", "https://example.com/team/market") == "store"
    assert projects.of(str(copy)) == "other"
    plain = _repository(tmp_path, "plain")
    assert projects.of(str(plain)) == "plain"
    plain.rename(tmp_path / "moved")
    assert projects.of(str(tmp_path / "moved")) == "plain"
    shutil.rmtree(repository)
    _repository(tmp_path, "shop", remote="git@example.com:other/thing.git")
    assert projects.of(str(tmp_path / "shop")) == "thing"


def test_a_run_on_record_tells_whose_a_gone_folder_was(tmp_path: Path):
    """As on another machine; the folder's own name on record tells no more than the folder."""
    on_record = {"r1": "store", "r2": "3", "r3": "shop-1f3c"}
    claims = ProjectClaims(tmp_path / "home")
    projects = RunProjects(claims=claims, on_record=lambda each: on_record.get(each, ""))
    assert projects.of("/gone/shop/.worktrees/3", has_git=True, outcome_id="r2") == "shop"
    assert projects.of("/gone/2/shop", has_git=True, outcome_id="r3") != "shop-1f3c"
    assert projects.of("/gone/3/shop", has_git=True, outcome_id="r1") == "store"
    assert projects.of("/gone/3/shop/api", has_git=True) == "store"


def test_what_is_left_out_has_no_project(repository: Path, tmp_path: Path):
    """By a file in the folder or above it, also for worktrees; by its path; by its project."""
    gone = str(tmp_path / "shop.worktrees" / "x")

    def of(folder: object, *excluded: str) -> str:
        claims = ProjectClaims(tmp_path / "home")
        return RunProjects(claims=claims, excluded=excluded).of(str(folder))

    assert of(repository / "src", "store") == of(gone, str(repository)) == ""
    assert RunProjects(excluded=("payroll",)).named("payroll") == ""
    assert of(repository, "shop", str(repository / "src"), f"{repository}-2") == "store"
    (repository / ".trackrecordignore").touch()
    assert of(repository / "src" / "deep") == of(gone) == ""
    assert of(tmp_path / "notes") == "notes"


def test_a_worktree_by_name_alone_gets_no_project_of_a_program(projects: RunProjects):
    """As no other repository of that name does."""
    projects.named("payroll")
    gone = "/home/ann/.cursor/worktrees/payroll/x"
    assert re.fullmatch("payroll-[0-9a-f]{4}", projects.of(gone, has_git=True))
