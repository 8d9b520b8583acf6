"""What became of a run's commits: read from real repositories, whoever did it."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.capture.conformance.published_traces import Outcomes
from tests.capture.made_runs import run_of, shell
from tests.support.processes import until
from trackrecord.wire.join import OutcomeEntry, join
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_capture.agent_run import AgentRun
from trackrecord_capture.history.git_reading import GitReading, GitUnread, RevertingCommit
from trackrecord_capture.history.reading import LogReading, read_and_publish
from trackrecord_capture.history.repository_news import Reverts, read_repositories
from trackrecord_capture.history.state import CaptureState
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.shell.git import commits_of
from trackrecord_capture.sources.source import Log, ReadRun

GIT = shutil.which("git") or "git"
_BEGIN = 1_795_000_000
_CART = "def total(prices):\n    return sum(prices)\n"
_AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "Ada", "EMAIL": "ada@example.com"}.items()
}


class Workshop(Outcomes):
    """A repository in which agents and people work, a minute for each thing that is done."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder = folder
        self.state = state
        self.now = _BEGIN
        super().__init__()
        self._prompts = 0
        self.git("init", "--quiet", "--initial-branch", "main", at=folder.parent, last=folder.name)
        self.write("README", "Shop\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Begin")

    def git(self, *arguments: str, at: Path | None = None, last: str = "") -> str:
        """Run git as a person does, a minute later."""
        self.now += 60
        date = {"GIT_AUTHOR_DATE": f"@{self.now} +0000", "GIT_COMMITTER_DATE": f"@{self.now} +0000"}
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.state)}
        done = subprocess.run(
            [GIT, *arguments, *filter(None, [last])], cwd=at or self.folder,
            env=kept | _AUTHOR | date, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text)

    def run(self, *commands: str, at: Path | None = None) -> str:
        """Have an agent run commands, each in a call of its own; return the run's outcome_id."""
        self._prompts += 1
        started, calls = self.now + 30, []
        for command in commands:
            began = self.now + 59
            printed = [
                self.git(*part.removeprefix("git ").replace("_", " ").split(), at=at)
                for part in command.split(" && ")
            ]
            lasted = (self.now - began) * 1000
            times = {"started_at": float(began), "duration_ms": float(lasted)}
            calls.append(shell(command, 0, "\n".join(printed), **times))
        run = run_of(
            *calls, agent="codex", prompt=f"p{self._prompts}", started_at=float(started),
            ended_at=float(self.now + 5), folder=str(at or self.folder),
            instruction="Write the cart of the shop", commits=commits_of(calls),
        )  # fmt: skip
        self.read(run)
        return run.outcome_id

    def read(self, *runs: AgentRun) -> None:
        """Read runs as they are read after their hooks, or on import."""
        log = self.state / "log"
        log.write_text(str(len(self.published)) + str(time.time_ns()))
        with CaptureState(self.state) as state:
            read_and_publish(
                _Prepared(runs), Log(path=log, size=1, version=1), state, self,
                LogReading(outcome_of=outcome_of, everything=True),
            )  # fmt: skip

    def look(self) -> int:
        """Read the repository, as when a session starts; return how many runs were amended."""
        with CaptureState(self.state) as state:
            return read_repositories(state, self)

    def outcome(self, outcome_id: str) -> tuple[bool | None, str]:
        """Return the verdict on record of a run, and why it failed; whatever came first."""
        bodies = [encode_body(each) for each in self.published if each["outcome_id"] == outcome_id]
        ways, now = (bodies, bodies[::-1], [*bodies, *bodies]), time.time()
        joined = {
            join(OutcomeEntry(body, now + place) for place, body in enumerate(way)).body
            for way in ways
        }
        records = [decode_outcome(body) for body in joined]
        verdicts = {(record.success, record.failure_details or "") for record in records}
        assert len(verdicts) == 1
        return verdicts.pop()

    def commits(self, outcome_id: str) -> list[str]:
        told = [each for each in self.published if each["outcome_id"] == outcome_id]
        return told[0].get("commits", [])

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")


class _Prepared:
    name = "codex"

    def __init__(self, runs):
        self._runs = runs

    def homes(self):
        return ()

    def logs(self, places):
        return iter(())

    def read(self, log, resume_at=0):
        for run in self._runs:
            yield ReadRun(run=run, resume_at=0, position=0)


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "state").mkdir()
    return Workshop(tmp_path / "shop", tmp_path / "state")


@pytest.fixture
def made(shop):
    """A run that committed the cart."""
    shop.write("cart.py", _CART)
    return shop.run("git add --all && git commit -m Cart")


def test_a_commit_is_the_runs(shop, made):
    """Git's words name it, and what people commit between runs is nobody's."""
    assert shop.commits(made) == [shop.head()[:7]]
    shop.write("README", "Shop of Ada\n")
    shop.git("commit", "--quiet", "--all", "--message", "By hand")
    looked = shop.run("git status")
    assert shop.commits(looked) == []
    assert (shop.look(), shop.outcome(made)) == (0, (None, ""))


def test_reverted_by_hand_and_back_again(shop, made):
    """Whoever reverts a commit says what to think of it; reading twice changes nothing."""
    commit = shop.head()
    shop.git("revert", "--no-edit", "HEAD")
    revert = shop.head()
    failed = (False, f"commit {commit[:7]} was reverted by {revert[:7]}")
    assert (shop.look(), shop.outcome(made)) == (1, failed)
    assert (shop.look(), shop.outcome(made)) == (0, failed)

    shop.git("revert", "--no-edit", "HEAD")
    assert (shop.look(), shop.outcome(made)) == (1, (None, ""))
    shop.git("revert", "--no-edit", "HEAD")
    assert shop.look() == 1
    assert shop.outcome(made) == failed


def test_a_repository_that_is_read_before_the_run_that_reverts(shop, made):
    """It names the commit, and the run that ended later does not take its place."""
    commit, read = shop.head(), shop.read
    shop.read = lambda *runs: (shop.look(), read(*runs))
    shop.now = int(time.time()) + 600
    shop.run("git revert --no-edit HEAD")
    assert shop.outcome(made) == (False, f"commit {commit[:7]} was reverted by {shop.head()[:7]}")


def test_a_state_that_was_lost_says_the_same(shop, made):
    """Everything is read again, and the verdict stands."""
    log = shop.published[0]
    shop.git("revert", "--no-edit", "HEAD")
    shop.look()
    before = shop.outcome(made)
    for name in ("capture.db", "capture.db-wal", "capture.db-shm"):
        (shop.state / name).unlink(missing_ok=True)
    assert log in shop.published
    assert (shop.look(), shop.outcome(made)) == (0, before)


def test_what_a_run_takes_back_itself(shop):
    """Who corrects himself has not failed by that."""
    shop.write("cart.py", _CART)
    outcome = shop.run("git add --all && git commit -m Cart", "git revert --no-edit HEAD")
    assert (shop.look(), shop.outcome(outcome)) == (0, (None, ""))


def test_commits_in_a_worktree_are_those_of_the_agent_there(shop, tmp_path):
    """Two agents side by side in one repository do not get each other's commits."""
    other = tmp_path / "other"
    shop.git("worktree", "add", "--quiet", "-b", "other", str(other))
    shop.write("cart.py", _CART)
    here = shop.run("git add --all && git commit -m Cart")
    (other / "price.py").write_text("PRICE = 3\n")
    there = shop.run("git add --all && git commit -m Price", at=other)
    assert shop.commits(here) == [shop.git("rev-parse", "main")[:7]]
    assert shop.commits(there) == [shop.git("rev-parse", "other")[:7]]
    shop.git("revert", "--no-edit", "HEAD", at=other)
    assert (shop.look(), shop.outcome(there)[0], shop.outcome(here)[0]) == (1, False, None)


def test_a_revert_on_a_branch_of_a_fork_says_nothing(shop, made):
    """Anybody can offer one."""
    shop.git("checkout", "--quiet", "-b", "theirs")
    shop.git("revert", "--no-edit", "HEAD")
    shop.git("update-ref", "refs/remotes/fork/theirs", "HEAD")
    shop.git("checkout", "--quiet", "main")
    shop.git("branch", "--quiet", "-D", "theirs")
    assert (shop.look(), shop.outcome(made)) == (0, (None, ""))
    shop.git("update-ref", "refs/remotes/origin/main", "refs/remotes/fork/theirs")
    assert (shop.look(), shop.outcome(made)[0]) == (1, False)


def test_commits_that_the_repository_has_lost_keep_their_verdict(shop, made):
    """Nothing can be said of what is gone."""
    shop.git("revert", "--no-edit", "HEAD")
    shop.look()
    shop.git("reset", "--quiet", "--hard", "HEAD~2")
    shop.git("reflog", "expire", "--expire=now", "--all")
    shop.git("gc", "--quiet", "--prune=now")
    shop.git("commit", "--quiet", "--allow-empty", "--message", "On")
    assert (shop.look(), shop.outcome(made)[0]) == (0, False)


def _files(folder: Path) -> dict[str, tuple[int, bytes]]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).digest())
        for path in paths
    }


def test_nothing_that_a_repository_names_is_run_and_nothing_is_written(shop, made, tmp_path):
    """Its configuration may be a stranger's: pagers, hooks, filters, signatures, ways to fetch."""
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 $* >> {ran}\nexit 1\n")
    trap.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout"):
        (hooks / name).symlink_to(trap)
    commit = shop.head()
    shop.git("reset", "--quiet", "--hard", "HEAD~1")
    settings = {
        "core.fsmonitor": trap, "core.pager": trap, "pager.log": trap, "core.hooksPath": hooks,
        "core.sshCommand": trap, "core.askPass": trap, "core.editor": trap, "gpg.program": trap,
        "log.showSignature": "true", "diff.external": trap, "diff.trap.textconv": trap,
        "diff.trap.command": trap, "filter.trap.clean": trap, "filter.trap.smudge": trap,
        "filter.trap.process": trap, "credential.helper": trap, "alias.rev-list": f"!{trap}",
        "alias.cat-file": f"!{trap}", "alias.show-ref": f"!{trap}",
        "uploadpack.packObjectsHook": trap,
        "remote.origin.url": f"ext::{trap}", "remote.origin.promisor": "true",
        "remote.origin.uploadpack": trap, "remote.origin.partialclonefilter": "blob:none",
        "protocol.ext.allow": "always", "protocol.allow": "always",
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
        "core.alternateRefsCommand": trap, "core.gitProxy": trap, "gc.auto": "1",
    }  # fmt: skip
    config = shop.folder / ".git" / "config"
    for name, value in settings.items():
        key, _, last = name.rpartition(".")
        section, _, rest = key.partition(".")
        head = f'[{section} "{rest}"]' if rest else f"[{section}]"
        with config.open("a") as file:
            file.write(f"{head}\n\t{last} = {value}\n")
    (shop.folder / ".git" / "info").mkdir(exist_ok=True)
    (shop.folder / ".git" / "info" / "attributes").write_text("* diff=trap filter=trap\n")
    # A blob that is missing would be fetched from the remote, by any program that it names.
    blob = shop.git("rev-parse", f"{commit}:cart.py")
    (shop.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    subprocess.run([GIT, "status"], cwd=shop.folder, capture_output=True, check=False)
    subprocess.run([GIT, "cat-file", "-p", blob], cwd=shop.folder, capture_output=True, check=False)
    monitored, *fetched = ran.read_text().splitlines()
    assert monitored.startswith(f"{trap} 2 ")
    assert fetched
    ran.unlink()
    before = _files(shop.folder)
    shop.look()
    assert not ran.exists()
    assert _files(shop.folder) == before

    shop.write("cart.py", _CART)
    (shop.folder / ".git" / "refs" / "heads" / "new").write_text(f"{commit}\n")
    before = _files(shop.folder)
    shop.look()
    assert not ran.exists()
    assert _files(shop.folder) == before


def _alive(group: int) -> list[str]:
    """Return the processes of a group that still run."""
    told = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            told.append(path.read_text().rpartition(")")[2].split())
    return [fields[0] for fields in told if int(fields[2]) == group and fields[0] not in "ZX"]


def test_a_git_that_does_not_answer_is_not_waited_for(shop, made, tmp_path, monkeypatch):
    """Nor is one that never ends to speak; no process is left behind."""
    programs = tmp_path / "bin"
    programs.mkdir()
    pid = tmp_path / "pid"
    for script in (f"echo $$ > {pid}; sleep 600", f"echo $$ > {pid}; yes"):
        (programs / "git").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        with pytest.raises(GitUnread):
            GitReading(shop.folder, patience_s=2.0).state()
        until(lambda: not _alive(int(pid.read_text())))


def test_reverts_that_go_in_circles():
    """Messages can say anything; some answer comes, and the same one for the same messages."""
    first, second, third = ("a" * 40, "b" * 40, "c" * 40)
    said = [
        RevertingCommit(by, f"This reverts commit {of}.")
        for by, of in ((second, first), (third, second), (second, third))
    ]
    assert {Reverts(said).of(first), Reverts(said[::-1]).of(first)} <= {"", second}
    assert Reverts(said[:1]).of(first) == second
    assert Reverts(said[:1]).of(first, {second}) == ""
    assert Reverts(said[:2]).of(first) == ""
