"""The verdict on a run whose commit was reverted."""

from typing import Any, Final

from trackrecord.settings.projects.repositories import git_folders_of

from ..agent_run import AgentRun
from ..shell.git import reverts_an_earlier_head
from .state import CaptureState, Revert, RunOfCommit

GROUND: Final = "reverted"
_SHOWN_DIGITS: Final = 7


def made_by(run: AgentRun, fields: dict[str, Any]) -> list[RunOfCommit]:
    """Return the commits of a run; `fields` are those of its outcome."""
    folders = git_folders_of(run.folder) if run.commits else None
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


def reverted_by(run: AgentRun, fields: dict[str, Any], state: CaptureState) -> list[Revert]:
    """Return the commits that a run reverted; `fields` are those of its outcome.

    HEAD stands for the commit that an earlier run of the same session made last, if one did.
    """
    commits = [commit.lower() for commit in run.reverts]
    if not commits and reverts_an_earlier_head(run.calls):
        source = fields.get("source") or run.agent
        head = state.last_made(source, run.session, fields["project"], run.started_at)
        commits += [head] if head else []
    return [
        Revert(commit, fields["project"], fields["outcome_id"], run.ended_at) for commit in commits
    ]


def amendment(maker: RunOfCommit, revert: Revert) -> tuple[dict[str, Any], str]:
    """Return an entry that amends the outcome of the run whose commit was reverted, and why."""
    says = f"commit {short(maker.hash)} was reverted by {revert.outcome_id}"
    return verdict_entry(maker, says, revert.at), says


def verdict_entry(maker: RunOfCommit, says: str, at: float) -> dict[str, Any]:
    """Return an entry with what a repository says of a run.

    Of several such entries about one run the last counts: one without words takes back the others.

    Args:
        maker: the run.
        says: how its commit was reverted, in words; "" if it stands.
        at: when the repository said so.
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


def short(commit: str) -> str:
    """Return a commit's hash as people write it."""
    return commit[:_SHOWN_DIGITS]
