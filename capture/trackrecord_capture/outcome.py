"""From an agent's run to the outcome that is published: the fields of the wire format.

Everything is redacted and bounded here, before it is queued.

Searches and comparisons that end with exit status 1 although nothing failed: `grep`, `diff`.

Status 1 is their answer, "no such line" or "they differ"; what goes wrong has another status, or
says so. So is what `gh pr checks` says of checks that ran elsewhere.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Final

import msgspec

from trackrecord.learning.advice.moments.calls import TriedCall
from trackrecord.learning.text.hints import HINT_MARK, without_hints
from trackrecord.learning.text.redaction import redacted, redacted_beginning
from trackrecord.settings.capture_rules import CaptureRules
from trackrecord.settings.projects.repositories import valid_name
from trackrecord.wire.outcome import ToolCall, encode_body
from trackrecord.wire.tried_calls import call_of_tool, tried_call

from .agent_run import AgentRun, RunCall, SignalKind, is_cancelled
from .call_fields import LONGEST_ERROR, folder_name, kept_call, kept_error, kept_path, shortened
from .projects import RunProjects
from .shell.names import LOOKS, TRIVIAL, step_name
from .shell.purposes import own_checks
from .shell.steps import ShellStep, steps_of
from .verdict.checks import findings_of
from .verdict.repeatable import checks_by_call
from .verdict.verdict import RunVerdict, WeighedEvidence, unchecked_file, verdict_of

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


_LONGEST_INSTRUCTION: Final = 4000
_LONGEST_SAYS: Final = 300
_LONGEST_LABEL: Final = 200
_MOST_FILES: Final = 200
_MOST_COMMITS: Final = 100
# How many calls are kept; fewer where they are large. The first and the last half of a long run,
# and besides those that its verdict rests on.
_MOST_CALLS: Final = (400, 100, 20, 2)
_LARGEST: Final = 512 * 1024
# The largest count that the wire format takes; more tokens or dollars are a broken counter.
_LARGEST_AMOUNT: Final = 2**53
# A shorter prompt ("continue", "yes, do that") is another task in each session.
_FEWEST_WORDS: Final = 4
_FEWEST_CHARACTERS: Final = 8
_COMMIT: Final = re.compile(r"[0-9a-fA-F]{7,64}\Z")
_SPACE: Final = re.compile(r"\s+")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

# What a person explains in words of their own.
_REMARKED: Final = frozenset({SignalKind.REJECTED, SignalKind.UNDONE})
_REFUSED: Final = "refused by the person"

DEFAULTS: Final = CaptureRules()
# As clients name the tools of a server, and as the adapters do.
_OURS: Final = re.compile(r"(?:mcp__)?trackrecord(?:_{1,2}|:)(?:recall|remember|report_outcome)\Z")
NO_TOOL_WORDS: Final[Mapping[str, Mapping[str, str]]] = {}


def outcome_of(
    run: AgentRun,
    rules: CaptureRules = DEFAULTS,
    projects: RunProjects | None = None,
    tool_words: Mapping[str, Mapping[str, str]] = NO_TOOL_WORDS,
    *,
    machine: str = "",
) -> dict[str, Any] | None:
    """Return the fields of a run's outcome, those that are unknown left out; None for no outcome.

    `success` is always there: None if the run has no verdict. The outcome has far less than a
    megabyte, holds no secret that the table of `redaction` knows, and nothing of the content of
    files; without `rules.prompts` also nothing of a person's prompts.

    Args:
        run: the run.
        rules: what is kept of it.
        projects: names its project; without it, no name is taken by another repository.
        tool_words: by agent, what all agents call its tools: "edit" for "Edit".
        machine: a digest of the machine that it ran on, see `this_machine`; "" if unknown.

    Raises:
        StoreUnfit: `projects` cannot tell which names are taken.
    """
    if projects is None:
        projects = RunProjects(rules.project_of_folder, excluded=rules.exclude)
    if not (project := project_of(run, projects)):
        return None
    run = _prepared(run, rules)
    if run.automated:
        # Nobody was there who could have refused a call.
        signs = tuple(sign for sign in run.signs if sign.kind is not SignalKind.REJECTED)
        run = msgspec.structs.replace(run, signs=signs)
    if not rules.prompts:
        run = _without_words(run)
    verdict, words = verdict_of(run), tool_words.get(run.agent, {})
    for most in _MOST_CALLS:
        fields = _fields(run, project, verdict, rules, most, words)
        if len(encode_body(fields)) <= _LARGEST:
            break
    if machine:
        fields["metadata"] = {**fields.get("metadata", {}), "machine": machine}
    return fields


def tried_calls_of(
    run: AgentRun,
    rules: CaptureRules = DEFAULTS,
    tool_words: Mapping[str, Mapping[str, str]] = NO_TOOL_WORDS,
) -> list[tuple[str, TriedCall]]:
    """Return the calls of a run as facts about failures know them, each with its id.

    They are the calls that the run's outcome will have; those that nothing is known by are left
    out.

    Args:
        run: the run.
        rules: what is kept of it.
        tool_words: by agent, what all agents call its tools.
    """
    run = _prepared(run, rules)
    words, places = tool_words.get(run.agent, {}), range(len(run.calls))
    graph = _graph(run, places, words, findings_of(run), prompts=False)
    made = [_calls.decode(encode_body(fields)) for fields in graph]
    known = (tried_call(each, is_captured=True) or call_of_tool(each) for each in made)
    return [(call.id, tried) for call, tried in zip(run.calls, known, strict=True) if tried]


_calls: Final = msgspec.json.Decoder(ToolCall)


def _prepared(run: AgentRun, rules: CaptureRules) -> AgentRun:
    """Return a run as it is judged: without what is ours, and with the checks of its project."""
    run = with_answers(_with_cancelled(_without_hints(without_own_tools(run))))
    return msgspec.structs.replace(run, own_checks=rules.checks) if rules.checks else run


def _graph(
    run: AgentRun,
    places: Iterable[int],
    words: Mapping[str, str],
    found: Set[int],
    *,
    prompts: bool,
) -> list[dict[str, Any]]:
    checks, own = checks_by_call(run), own_checks(run.own_checks)
    return [
        kept_call(
            run.calls[place],
            run.folder,
            prompts=prompts,
            has_found=place in found,
            words=words,
            own=own,
            checks=checks.get(place, ()),
        )
        for place in places
    ]


def unchecked_edit_of(runs: Sequence[AgentRun], rules: CaptureRules, folder: str) -> str:
    """Return the file, as it is told, of a session's last edit that nothing has checked; or "".

    Args:
        runs: the session's runs, in order; not those of its sub-agents.
        rules: what is kept of them.
        folder: the top of the repository that it works in.
    """
    if not runs:
        return ""
    calls = tuple(call for run in runs for call in run.calls)
    whole = msgspec.structs.replace(runs[-1], folder=folder, calls=calls)
    file = unchecked_file(_prepared(whole, rules))
    return kept_path(file, folder) if file else ""


def _without_hints(run: AgentRun) -> AgentRun:
    """Return a run whose outputs hold no hint of ours, as a hook puts it beside a failure."""
    if not any(HINT_MARK in call.result or HINT_MARK in call.error for call in run.calls):
        return run
    calls = tuple(
        msgspec.structs.replace(
            call, result=without_hints(call.result), error=without_hints(call.error)
        )
        for call in run.calls
    )
    return msgspec.structs.replace(run, calls=calls)


def _with_cancelled(run: AgentRun) -> AgentRun:
    """Return a run in which a call that was cancelled has neither succeeded nor failed.

    Not every source tells such a call from a failed one.
    """
    calls = tuple(
        msgspec.structs.replace(call, ok=None, error="", edits=())
        if call.ok is False and is_cancelled(call.error or call.result)
        else call
        for call in run.calls
    )
    return msgspec.structs.replace(run, calls=calls)


def _without_words(run: AgentRun) -> AgentRun:
    """Return a run without a person's words on refusing a call or reverting the work."""
    refused = {sign.call for sign in run.signs if sign.kind is SignalKind.REJECTED}
    calls = tuple(
        msgspec.structs.replace(call, error=_REFUSED, result="") if place in refused else call
        for place, call in enumerate(run.calls)
    )
    signs = tuple(
        msgspec.structs.replace(sign, says="") if sign.kind in _REMARKED else sign
        for sign in run.signs
    )
    return msgspec.structs.replace(run, calls=calls, signs=signs)


def _fields(
    run: AgentRun,
    project: str,
    verdict: RunVerdict,
    rules: CaptureRules,
    most_calls: int,
    words: Mapping[str, str],
) -> dict[str, Any]:
    instruction, found = _instruction(run), findings_of(run)
    places = _places(len(run.calls), most_calls, verdict)
    graph = _graph(run, places, words, found, prompts=rules.prompts)
    fields = {
        "outcome_id": run.outcome_id,
        "project": project,
        "task_id": task_id_of(run, project),
        "success": verdict.success,
        "outcome_source": verdict.outcome_source,
        "timestamp": run.ended_at or None,
        "duration_ms": _duration_ms(run),
        "error_count": sum(call.ok is False for call in run.calls) - len(found),
        "source": redacted_beginning(run.agent, _LONGEST_LABEL) or None,
        "instruction": (instruction or None) if rules.prompts else None,
        "tool_graph": graph or None,
        "files_touched": _files(run) or None,
        "failure_mode": verdict.grounds[0].kind if verdict.success is False else None,
        "failure_details": _failure_details(run, verdict),
        "cost": _cost(run),
        "process": _process(run),
        "grounds": [_ground(evidence, places) for evidence in verdict.grounds],
        "captured_from": run.captured_from,
        "commits": [one for one in run.commits if _COMMIT.match(one)][:_MOST_COMMITS] or None,
        "metadata": _metadata(run, len(places)),
    }
    return {name: value for name, value in fields.items() if value is not None or name == "success"}


def project_of(run: AgentRun, projects: RunProjects) -> str:
    """Return a run's project: the one that its source names, else its folder's; "" if left out."""
    if named := valid_name(redacted(run.project)):
        return projects.named(named)
    asked = run.folder, run.repository
    return projects.of(*asked, has_git=bool(run.branch), outcome_id=run.outcome_id)


def task_id_of(run: AgentRun, project: str) -> str:
    """Return the id of the task: the same for the same prompt in one project.

    It is a digest, so that it tells nothing of the prompt. A prompt of a few words is a task of its
    session alone: what "continue" asks for is never the same. A run without a prompt is a task of
    its own.
    """
    text = _SPACE.sub(" ", _instruction(run)).strip().casefold()
    if not text:
        return run.outcome_id
    whole = [project, text]
    if _is_short(text):
        whole.append(run.session or run.prompt)
    digest = hashlib.blake2b("\0".join(whole).encode(errors="replace"), digest_size=8).hexdigest()
    return f"task:{digest}"


def _is_short(text: str) -> bool:
    if _CJK.search(text):
        return len(text) < _FEWEST_CHARACTERS
    return len(text.split()) < _FEWEST_WORDS


def _instruction(run: AgentRun) -> str:
    return redacted_beginning(run.instruction.strip(), _LONGEST_INSTRUCTION)


def _places(count: int, most: int, verdict: RunVerdict) -> list[int]:
    """Return which calls are kept: the first, the last, and those that the verdict rests on."""
    if count <= most:
        return list(range(count))
    kept = {*range(most // 2), *range(count - most // 2, count)}
    return sorted(kept.union(each.call for each in verdict.grounds if each.call is not None))


def _files(run: AgentRun) -> list[str]:
    files = (file for call in run.calls if call.ok is not False for file in call.edits)
    return [kept_path(file, run.folder) for file in list(dict.fromkeys(filter(None, files)))][
        :_MOST_FILES
    ]


def _failure_details(run: AgentRun, verdict: RunVerdict) -> str | None:
    """Return the error of the call that decided, or the ground's own words."""
    if verdict.success is not False:
        return None
    ground = verdict.grounds[0]
    is_kept = ground.call is not None and ground.call < len(run.calls)
    text = (kept_error(run.calls[ground.call or 0]) if is_kept else None) or redacted(ground.says)
    return shortened(text, LONGEST_ERROR) or None


def _duration_ms(run: AgentRun) -> int | None:
    if not run.started_at or not run.ended_at:
        return None
    return max(0, round((run.ended_at - run.started_at) * 1000))


def _cost(run: AgentRun) -> dict[str, float] | None:
    given = {"tokens_in": run.tokens_in, "tokens_out": run.tokens_out, "usd": run.usd}
    known = {
        name: value
        for name, value in given.items()
        if value is not None and 0 <= value <= _LARGEST_AMOUNT
    }
    return known or None


def _process(run: AgentRun) -> dict[str, int] | None:
    rejections = sum(sign.kind is SignalKind.REJECTED for sign in run.signs)
    return {"rejections": rejections} if rejections else None


def _ground(evidence: WeighedEvidence, places: list[int]) -> dict[str, Any]:
    ground: dict[str, Any] = {"kind": evidence.kind}
    if evidence.says:
        ground["says"] = shortened(evidence.says, _LONGEST_SAYS)
    if evidence.call in places:
        ground["call"] = places.index(evidence.call)
    return ground


def _metadata(run: AgentRun, kept: int) -> dict[str, Any] | None:
    given = {
        "parent": run.parent,
        "session": run.session,
        "prompt": run.prompt,
        "folder": folder_name(run.folder),
        "branch": run.branch,
        "model": run.model,
        "name": run.name,
    }
    metadata: dict[str, Any] = {
        name: redacted_beginning(value, _LONGEST_LABEL) for name, value in given.items() if value
    }
    if run.automated:
        metadata["automated"] = True
    if not run.is_over:
        metadata["goes_on"] = True
    if kept < len(run.calls):
        metadata["calls"] = len(run.calls)
    return metadata or None


def without_own_tools(run: AgentRun) -> AgentRun:
    """Return a run without the calls of our MCP tools, and without what was seen at them.

    An agent that asks before it begins would otherwise teach that every procedure begins so.
    """
    kept = [place for place, call in enumerate(run.calls) if not _OURS.match(call.tool)]
    if len(kept) == len(run.calls):
        return run
    moved = {place: now for now, place in enumerate(kept)}
    signs = tuple(
        sign if sign.call is None else msgspec.structs.replace(sign, call=moved[sign.call])
        for sign in run.signs
        if sign.call is None or sign.call in moved
    )
    calls = tuple(run.calls[place] for place in kept)
    return msgspec.structs.replace(run, calls=calls, signs=signs)
