"""Commits of earlier runs that a later one reverts, and the verdict that follows.

What a run took back itself counts for nothing.
"""

import hashlib
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, NamedTuple

from trackrecord.settings.projects.repositories import git_folders_of

from ..agent_run import AgentRun
from .git_reading import GitReading, GitUnread, RevertingCommit
from .sink import Sink
from .state import CaptureState, RunOfCommit

# For all repositories together; those that are left come next time.
_PATIENCE_S: Final = 15.0
_DAY_S: Final = 86_400.0
_REVERTS: Final = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_SHORT: Final = 7
GROUND: Final = "reverted"

Outcome = tuple[str, str]
"""A project and the id of an outcome in it."""


def made_by(run: AgentRun, fields: dict[str, Any]) -> list[RunOfCommit]:
    """Return the commits of a run; `fields` are those of its outcome."""
    folders = git_folders_of(run.folder)
    return [
        RunOfCommit(
            hash=commit.lower(),
            project=fields["project"],
            outcome_id=fields["outcome_id"],
            source=fields.get("source") or run.agent,
            task_id=fields["task_id"],
            session=run.session,
            ended_at=run.ended_at,
            tree="" if folders is None else str(folders.tree),
        )
        for commit in run.commits
    ]


class RepositoryNews(NamedTuple):
    """The news of a repository about the runs whose commits it has.

    Attributes:
        tree: its main working tree.
        digest: of the state in which it was read.
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
    amended = 0
    for news in repository_news(state):
        for entry, _, _ in news.entries:
            sink.publish(entry)
        # Only then it is remembered.
        if not sink.settle():
            state.note_said([(*outcome, says) for _, outcome, says in news.entries])
            state.keep_repository(news.tree, news.digest)
            amended += len(news.entries)
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
    moment = time.time()
    makers = {(run.project, run.outcome_id): run for run in made}
    entries = [
        (_entry(makers[outcome], says, moment), outcome, says)
        for outcome, says in sorted(judge(git, made).items())
        if says != state.said_of(*outcome) and (says or git.has(_hashes(made)[outcome]))
    ]
    return RepositoryNews(tree, now, entries)


def _entry(maker: RunOfCommit, says: str, at: float) -> dict[str, Any]:
    """Return an entry with what a repository says of a run.

    Of several such entries about one run the last counts: one without words takes back the others.
    """
    entry = {
        "outcome_id": maker.outcome_id,
        "project": maker.project,
        "task_id": maker.task_id,
        "source": maker.source,
        "captured_from": "repository",
        "timestamp": at,
        "success": None,
    }
    if not says:
        return entry
    return entry | {
        "success": False,
        "outcome_source": "explicit",
        "grounds": [{"kind": GROUND, "says": says}],
        "failure_mode": GROUND,
        "failure_details": says,
    }


def judge(git: GitReading, made: Sequence[RunOfCommit]) -> dict[Outcome, str]:
    """Judge the commits of runs.

    Args:
        git: the repository.
        made: which run made which commit.

    Returns:
        For each run, in words, how a commit of it was reverted; "" if none is.

    Raises:
        GitUnread: the repository cannot be read.
    """
    reverts = Reverts(git.reverts(min(run.ended_at for run in made) - _DAY_S))
    return {
        outcome: next(
            (
                f"commit {each[:_SHORT]} was reverted by {by[:_SHORT]}"
                for each in sorted(hashes)
                if (by := reverts.of(each, hashes))
            ),
            "",
        )
        for outcome, hashes in _hashes(made).items()
    }


def _hashes(made: Iterable[RunOfCommit]) -> dict[Outcome, set[str]]:
    """Return the commits of each run; their hashes may be shortened."""
    own: dict[Outcome, set[str]] = defaultdict(set)
    for run in made:
        own[run.project, run.outcome_id].add(run.hash)
    return own


class Reverts:
    """The commits that revert others, by what their messages say.

    Args:
        commits: those that say so.
    """

    def __init__(self, commits: Iterable[RevertingCommit]) -> None:
        self._by_short: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for each in commits:
            for target in _REVERTS.findall(each.text):
                self._by_short[target[:_SHORT]].append((target, each.hash))

    def of(self, commit: str, own: AbstractSet[str] = frozenset()) -> str:
        """Return the commit that reverts one and was not reverted itself; "" if none does.

        Args:
            commit: its hash, which may be shortened.
            own: commits of the same run, whose reverts do not count.
        """
        others = (by for by in self._reverting(commit) if not by.startswith(tuple(own)))
        return next(filter(self._stands, others), "")

    def _reverting(self, commit: str) -> list[str]:
        named = self._by_short.get(commit[:_SHORT], ())
        return sorted(by for target, by in named if _is_one(commit, target) and by != commit)

    def _stands(self, commit: str) -> bool:
        """Return whether a commit is not reverted; messages can go in circles."""
        stands, seen, chain = True, {commit}, self._reverting(commit)
        while chain:
            seen.update(chain)
            stands = not stands
            chain = [by for each in chain for by in self._reverting(each) if by not in seen]
        return stands


def _is_one(commit: str, other: str) -> bool:
    """Return whether two hashes, which may be shortened, are of one commit."""
    return commit.startswith(other) or other.startswith(commit)
