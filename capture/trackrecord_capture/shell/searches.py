"""Searches and comparisons that end with exit status 1 although nothing failed: `grep`, `diff`.

Status 1 is their answer, "no such line" or "they differ"; what goes wrong has another status, or
says so. So is what `gh pr checks` says of checks that ran elsewhere.
"""

import re
from typing import Final

import msgspec

from ..agent_run import AgentRun, RunCall
from .names import LOOKS, TRIVIAL, step_name
from .steps import ShellStep, steps_of

# Those that print what they find: without a hit they print nothing.
_FIND: Final = frozenset({
    "[", "ack", "ag", "cmp", "command", "diff", "egrep", "fd", "fgrep", "find", "git check-ignore",
    "git config", "git diff", "git grep", "git merge-base", "git show-ref", "grep", "lsof", "pgrep",
    "rg", "type", "ugrep", "which", "zgrep",
})  # fmt: skip
# They print how two things differ.
_COMPARE: Final = frozenset({"diff", "cmp", "colordiff", "git diff", "comm"})
# They print what checks found that ran elsewhere: 1 says that some failed, 8 that some go on.
_REPORT: Final = frozenset({"gh pr checks"})
_REPORT_STATUSES: Final = frozenset({1, 8})
_SEARCHES: Final = _FIND | _COMPARE | _REPORT
# They give a line a status of their own, whatever a search before them found.
_OWN_STATUS: Final = frozenset({"exit", "false", "return"})
_STATUS: Final = re.compile(
    r"\s*(?:Error: )?(?:Command failed with |Process )?exit(?:ed with)? (?:code|status):? 1"
    r"[.\s]*\Z",
    re.IGNORECASE,
)
# Nothing but that it failed, as Claude Code's events have it.
_NO_STATUS: Final = re.compile(r"\s*(?:Error: )?Shell command failed[.\s]*\Z")
# A program that names itself tells of an error: "grep: a.py: No such file or directory".
_COMPLAINT: Final = re.compile(
    r"^(?:[\w./-]{1,64}: )?(?:line \d+: )?[\w./-]{1,64}: [^\n]{0,300}"
    r"\b(?:No such file|not found|cannot|can't|denied|invalid|unrecognized|unknown|usage)"
    r"|^(?:fatal|error|usage): |^unknown |^no default remote|^HTTP \d|\(HTTP \d{3}\)",
    re.MULTILINE | re.IGNORECASE,
)
_SEARCH_STATUSES: Final = frozenset({1})
_LONGEST: Final = 4096


def with_answers(run: AgentRun) -> AgentRun:
    """Return a run in which searches without hits and comparisons are not failed calls.

    Where neither a status nor a word of an error is known, it is not known how the search ended.
    """
    calls = tuple(
        msgspec.structs.replace(call, ok=None if _is_silent(call) else True, error="")
        if is_answer(call)
        else call
        for call in run.calls
    )
    return msgspec.structs.replace(run, calls=calls)


def _is_silent(call: RunCall) -> bool:
    return call.exit_code is None and not call.result and bool(_NO_STATUS.match(call.error))


def is_answer(call: RunCall) -> bool:
    """Return whether a call counts as failed only because a search answered "no".

    The line ends with the search, or with what only looks or prints; what precedes it does no more
    either, as far as the line's status is its own; and nothing that was printed complains.
    """
    if call.ok is not False or not call.command:
        return False
    steps = [step for step in steps_of(call.command) if step.words]
    names = list(map(_name, steps))
    statuses = _REPORT_STATUSES if names[-1:] == list(_REPORT) else _SEARCH_STATUSES
    if call.exit_code is not None and call.exit_code not in statuses:
        return False
    if not _SEARCHES.intersection(names) or names[-1] in _OWN_STATUS:
        return False
    # Without a status the error may be no more than its name.
    output = (call.result or ("" if call.exit_code else call.error))[:_LONGEST]
    if _STATUS.match(output) or _NO_STATUS.match(output):
        output = ""
    if _COMPLAINT.search(output) or not all(map(_is_harmless, steps[:-1])):
        return False
    if names[-1] in _SEARCHES:
        # What precedes it may have printed something.
        return names[-1] in _COMPARE | _REPORT or len(steps) > 1 or not output.strip()
    return names[-1] in TRIVIAL or names[-1] in LOOKS


def _name(step: ShellStep) -> str:
    whole = " ".join(step.words[:3])
    return whole if whole in _REPORT else step_name(step)


def _is_harmless(step: ShellStep) -> bool:
    name = _name(step)
    return step.joined in (";", "|") or name in TRIVIAL or name in LOOKS or name in _SEARCHES
