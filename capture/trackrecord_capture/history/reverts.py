"""Reports about runs whose commits were reverted."""

from typing import Any

from ..agent_run import AgentRun
from ..shell.git import reverts_an_earlier_head
from .state import CaptureState, Revert, RunOfCommit

GROUND = "reverted"
_SHOWN_DIGITS = 12


def made_by(run: AgentRun, fields: dict[str, Any]) -> list[RunOfCommit]:
    """Return the commits of a run; `fields` are those of its outcome."""
    return [
        RunOfCommit(
            hash=commit.lower(),
            project=fields["project"],
            outcome_id=fields["outcome_id"],
            source=fields.get("source") or run.agent,
            task_id=fields["task_id"],
            session=run.session,
            ended_at=run.ended_at,
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


def amendment(maker: RunOfCommit, revert: Revert) -> dict[str, Any]:
    """Return an entry that amends the outcome of the run whose commit was reverted."""
    says = f"commit {maker.hash[:_SHOWN_DIGITS]} was reverted by {revert.outcome_id}"
    return {
        "outcome_id": maker.outcome_id,
        "project": maker.project,
        "task_id": maker.task_id,
        "source": maker.source,
        # Read from a session on this machine, as the run was: both speak for one user.
        "captured_from": "transcript",
        "timestamp": maker.ended_at,
        "success": False,
        "outcome_source": "explicit",
        "grounds": [{"kind": GROUND, "says": says}],
    }
