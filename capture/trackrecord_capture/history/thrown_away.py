"""Commits of earlier runs that anybody threw away, and the verdict that follows.

A commit is thrown away if a later one reverts it, or if no branch leads to it any more and none
holds its change in another form. Amending, rebasing and squashing a commit keep the change. What a
run took back itself counts for nothing.
"""

import hashlib
import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from trackrecord.settings.projects.repositories import git_folders_of

from .git_reading import CommitFacts, GitReading, GitUnread, lines_of
from .reverts import DROPPED, GROUND, short, verdict_entry
from .sink import Sink
from .state import CaptureState, RunOfCommit

# For all repositories together; those that are left come next time.
_PATIENCE_S: Final = 15.0
_DAY_S: Final = 86_400.0
_REVERTS: Final = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_SHORT: Final = 7
_MOST_FILES: Final = 50
_MOST_BRANCHES: Final = 20
_LARGEST_FILE: Final = 1024 * 1024
# A change of which half is there was kept, and worked on.
_KEPT_SHARE: Final = 0.5

Outcome = tuple[str, str]
"""A project and the id of an outcome in it."""


class Thrown(NamedTuple):
    """That a commit of a run was thrown away.

    Attributes:
        kind: how: "reverted", or "dropped".
        says: in words.
    """

    kind: str
    says: str


class RepositoryNews(NamedTuple):
    """The news of a repository about the runs whose commits it has.

    Attributes:
        tree: its main working tree.
        digest: of the state in which it was read; "" if it must be read again in any case.
        entries: the entries to publish, each with what it says for each outcome.
    """

    tree: str
    digest: str
    entries: Sequence[tuple[dict[str, Any], Outcome, str]]


def read_repositories(state: CaptureState, sink: Sink) -> int:
    """Publish what repositories say of earlier runs; return how many runs were amended.

    Raises:
        ServerUnavailable: it cannot be delivered; reading again finds it again.
        StoreUnfit: the state cannot be used.
    """
    return publish_news(repository_news(state), state, sink)


def publish_news(news: Iterable[RepositoryNews], state: CaptureState, sink: Sink) -> int:
    """Publish what repositories say, and only then remember it; as `read_repositories`."""
    amended = 0
    for each in news:
        for entry, _, _ in each.entries:
            sink.publish(entry)
        if sink.settle():
            continue
        state.note_said([(*outcome, says) for _, outcome, says in each.entries])
        state.keep_repository(each.tree, each.digest)
        amended += len(each.entries)
    return amended


def repository_news(state: CaptureState) -> list[RepositoryNews]:
    """Return what repositories say that have changed since they were read, and is not known."""
    deadline = time.monotonic() + _PATIENCE_S
    found = []
    for tree, digest in state.repositories():
        if time.monotonic() > deadline:
            break
        folders = git_folders_of(tree)
        if folders is None or str(folders.tree) != tree:
            continue
        try:
            news = _news(tree, digest, state)
        except GitUnread:
            continue
        if news is None:
            continue
        if news.entries:
            found.append(news)
        else:
            state.keep_repository(news.tree, news.digest)
    return found


def _news(tree: str, digest: str, state: CaptureState) -> RepositoryNews | None:
    git, made = GitReading(Path(tree)), state.made_in(tree)
    whole = b"\0".join([git.state(), *sorted(run.hash.encode() for run in made)])
    now = hashlib.blake2b(whole, digest_size=16).hexdigest()
    if now == digest:
        return None
    judged, is_settled = judge(git, made, _working_trees(Path(tree)))
    moment = time.time()
    makers = {(run.project, run.outcome_id): run for run in made}
    entries = []
    for outcome, thrown in sorted(judged.items()):
        says = thrown.says if thrown else ""
        if says != state.said_of(*outcome):
            kind = thrown.kind if thrown else ""
            entries.append((verdict_entry(makers[outcome], kind, says, moment), outcome, says))
    return RepositoryNews(tree, now if is_settled else "", entries)


def judge(
    git: GitReading, made: Sequence[RunOfCommit], trees: Sequence[Path] = ()
) -> tuple[dict[Outcome, Thrown | None], bool]:
    """Judge the commits of runs.

    Args:
        git: the repository.
        made: which run made which commit.
        trees: its working trees.

    Returns:
        For each run that made a commit which the repository still has: how one was thrown away;
        None if all stand. And whether that can only change when a branch moves.

    Raises:
        GitUnread: the repository cannot be read.
    """
    known = git.known(sorted({run.hash for run in made}))
    commits = sorted(set(known.values()))
    facts = git.facts(commits)
    if not facts:
        return {}, True
    lost = git.unreachable(commits)
    since = min(each.at for each in facts.values()) - _DAY_S
    twins = _twins(facts, lost, git.commits(since) if lost else ())
    reverts = Reverts(git.reverts(since))
    own: dict[Outcome, set[str]] = defaultdict(set)
    for run in made:
        if run.hash in known:
            own[run.project, run.outcome_id].add(known[run.hash])
    judged: dict[Outcome, Thrown | None] = {}
    held = _Held(git, trees)
    for outcome, hashes in own.items():
        thrown = (_thrown(each, hashes, lost, twins, reverts, held) for each in sorted(hashes))
        judged[outcome] = next(filter(None, thrown), None)
    return judged, not held.by_working_tree


def _thrown(
    commit: str,
    own: AbstractSet[str],
    lost: AbstractSet[str],
    twins: Mapping[str, AbstractSet[str]],
    reverts: "Reverts",
    held: "_Held",
) -> Thrown | None:
    forms = {commit, *twins.get(commit, ())}
    if by := next(filter(None, (reverts.of(form, own) for form in sorted(forms))), ""):
        return Thrown(GROUND, f"commit {short(commit)} was reverted by {short(by)}")
    if commit in lost and commit not in twins and not held.has(commit):
        return Thrown(DROPPED, f"commit {short(commit)} was dropped: no branch has its change")
    return None


def _twins(
    facts: Mapping[str, CommitFacts], lost: AbstractSet[str], there: Iterable[CommitFacts]
) -> dict[str, set[str]]:
    """Return what took the place of lost commits: amended and moved, they keep their author."""
    by_author = defaultdict(set)
    for each in there:
        by_author[each.author].add(each.hash)
    found = {each: by_author.get(facts[each].author, set()) - {each} for each in lost}
    return {commit: same for commit, same in found.items() if same}


class Reverts:
    """The commits that revert others, by what their messages say.

    Args:
        commits: those that say so.
    """

    def __init__(self, commits: Iterable[CommitFacts]) -> None:
        self._by_short: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for each in commits:
            for target in _REVERTS.findall(each.text):
                self._by_short[target[:_SHORT]].append((target, each.hash))

    def of(self, commit: str, own: AbstractSet[str] = frozenset()) -> str:
        """Return the commit that reverts one and was not reverted itself; "" if none does.

        Args:
            commit: its full hash.
            own: commits of the same run, whose reverts do not count.
        """
        return next(
            (by for by in self._reverting(commit) if by not in own and self._stands(by)), ""
        )

    def _reverting(self, commit: str) -> list[str]:
        named = self._by_short.get(commit[:_SHORT], ())
        return sorted(by for target, by in named if commit.startswith(target) and by != commit)

    def _stands(self, commit: str) -> bool:
        """Return whether a commit is not reverted; messages can go in circles."""
        stands, seen, chain = True, {commit}, self._reverting(commit)
        while chain:
            seen.update(chain)
            stands = not stands
            chain = [by for each in chain for by in self._reverting(each) if by not in seen]
        return stands


class _Held:
    """Return whether anything holds the change of a commit that no branch leads to.

    Args:
        git: the repository.
        trees: its working trees; what was taken off a branch may still be in one of them.
    """

    def __init__(self, git: GitReading, trees: Sequence[Path]) -> None:
        self._git = git
        self._trees = trees
        self.by_working_tree = False

    def has(self, commit: str) -> bool:
        """Return whether the change is there; so it is where that cannot be told."""
        try:
            return self._has(commit)
        except GitUnread:
            return True

    def _has(self, commit: str) -> bool:
        changes = [each for each in self._git.changed(commit) if "\n" not in each[2]][:_MOST_FILES]
        blobs = self._git.lines([blob for each in changes for blob in each[:2]])
        change = LineChange({path: (blobs[old], blobs[new]) for old, new, path in changes})
        for tip in self._git.branches(_MOST_BRANCHES):
            names = {path: f"{tip}:{path}" for path in change.paths}
            there = self._git.lines(list(names.values()))
            if change.is_in({path: there[name] for path, name in names.items()}):
                return True
        for tree in self._trees:
            if change.is_in({path: _file_lines(tree, path) for path in change.paths}):
                self.by_working_tree = True
                return True
        return False


class LineChange:
    """The changes of a commit, line by line.

    Args:
        files: the lines of each file before and after.
    """

    def __init__(self, files: Mapping[str, tuple[frozenset[bytes], frozenset[bytes]]]) -> None:
        self._added = {path: after - before for path, (before, after) in files.items()}
        self._removed = {path: before - after for path, (before, after) in files.items()}

    @property
    def paths(self) -> list[str]:
        """The files."""
        return list(self._added)

    def is_in(self, lines: Mapping[str, frozenset[bytes]]) -> bool:
        """Return whether files with these lines hold at least half of the change."""
        added = sum(map(len, self._added.values()))
        if added:
            held = sum(len(some & lines[path]) for path, some in self._added.items())
            return held >= _KEPT_SHARE * added
        removed = sum(map(len, self._removed.values()))
        gone = sum(len(some - lines[path]) for path, some in self._removed.items())
        return gone >= _KEPT_SHARE * removed


def _working_trees(tree: Path) -> list[Path]:
    """Return the main working tree, and those that git has made beside it."""
    found = [tree]
    try:
        for place in sorted((tree / ".git" / "worktrees").iterdir())[:_MOST_BRANCHES]:
            other = Path(os.fsdecode(_read(place / "gitdir").strip())).parent
            folders = git_folders_of(str(other))
            if folders is not None and folders.tree == tree:
                found.append(other)
    except OSError:
        pass
    return found


def _file_lines(tree: Path, path: str) -> frozenset[bytes]:
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts:
        return frozenset()
    return lines_of(_read(tree / relative))


def _read(path: Path) -> bytes:
    """Return a file's content; nothing of one that is too large, or of a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST_FILE:
            return b""
        return file.read(_LARGEST_FILE)
