"""The calls that may wait, for agents on an event loop: each has a form that is awaited.

It does the same in a thread beside the loop, with all that it imports, so that the loop is never
held up.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from trackrecord.process.async_calls import beside
from trackrecord.prompt.question.question import DEFAULT_CONTEXT_BUDGET, Budget

if TYPE_CHECKING:
    from trackrecord.artifacts.pages import Page
    from trackrecord.inflight.errors import ErrorStats, ErrorType, TaskError
    from trackrecord.learning.advice.rules import Explore
    from trackrecord.learning.text.language import Language
    from trackrecord.prompt.answers.context_answer import Context
    from trackrecord.prompt.answers.rankings_answer import Rankings
    from trackrecord.prompt.candidates.read import Given
    from trackrecord.prompt.candidates.tokenizer import Tokenizer
    from trackrecord.prompt.question import partial_rules

    from .bodies.outcome_fields import OutcomeFields

Output = TypeVar("Output")


async def arankings(
    *,
    project: str | None = None,
    task: str | None = None,
    budget: Budget = "default",
    limit: int | None = None,
    lang: Language = "en",
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    task_id: str | None = None,
    explore: Explore | None = None,
    conditions: object = None,
    source: str | None = None,
) -> Rankings:
    """Call `trackrecord.rankings` without blocking the event loop."""
    answer: Rankings = await _in_thread("rankings", **locals())
    return answer


async def acontext(
    project: str | None = None,
    task: str | None = None,
    candidates: Iterable[Given] = (),
    budget: Budget = DEFAULT_CONTEXT_BUDGET,
    *,
    lang: Language = "en",
    tokenizer: Tokenizer | None = None,
    config: partial_rules.Given = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    task_id: str | None = None,
    explore: Explore | None = None,
    conditions: object = None,
) -> Context:
    """Call `trackrecord.context` without blocking the event loop, not even by the tokenizer."""
    composed: Context = await _in_thread("context", **locals())
    return composed


async def aafter_failure(
    tool: str,
    *,
    command: str = "",
    path: str = "",
    arguments: object = None,
    error: object = "",
    session: str = "",
    agent: str = "",
    project: str | None = None,
    source: str = "",
) -> str:
    """Call `trackrecord.after_failure` without blocking the event loop."""
    text: str = await _in_thread("after_failure", **locals())
    return text


async def aerror_context(
    task_id: str,
    include_resolved: bool = False,
    lang: Language = "en",
    *,
    project: str | None = None,
) -> str:
    """Call `trackrecord.error_context` without blocking the event loop."""
    text: str = await _in_thread("error_context", task_id, include_resolved, lang, project=project)
    return text


async def aerror_stats(task_id: str, *, project: str | None = None) -> ErrorStats:
    """Call `trackrecord.error_stats` without blocking the event loop."""
    counts: ErrorStats = await _in_thread("error_stats", task_id, project=project)
    return counts


async def alist_errors(
    task_id: str | None = None,
    *,
    unresolved: bool = False,
    category: ErrorType | None = None,
    limit: int | None = None,
    project: str | None = None,
) -> list[TaskError]:
    """Call `trackrecord.list_errors` without blocking the event loop."""
    found: list[TaskError] = await _in_thread(
        "list_errors",
        task_id,
        unresolved=unresolved,
        category=category,
        limit=limit,
        project=project,
    )
    return found


async def arecord_error(
    task_id: str,
    type: ErrorType | None,  # noqa: A002 - what the rules call it
    message: object,
    *,
    stack_trace: str | None = None,
    tool_name: str | None = None,
    context: str | None = None,
    project: str | None = None,
    wait: float = 0.5,
) -> str | None:
    """Call `trackrecord.record_error` without blocking the event loop."""
    error_id: str | None = await _in_thread(
        "record_error",
        task_id,
        type,
        message,
        stack_trace=stack_trace,
        tool_name=tool_name,
        context=context,
        project=project,
        wait=wait,
    )
    return error_id


async def aresolve_error(error_id: str, *, project: str | None = None) -> None:
    """Call `trackrecord.resolve_error` without blocking the event loop."""
    await _in_thread("resolve_error", error_id, project=project)


async def aflush(timeout: float = 2.0) -> bool:
    """Call `trackrecord.flush` without blocking the event loop."""
    is_done: bool = await _in_thread("flush", timeout)
    return is_done


async def aspool(*, task_id: str, success: bool, **fields: Unpack[OutcomeFields]) -> str | None:
    """Call `trackrecord.spool` without blocking the event loop."""
    outcome_id: str | None = await _in_thread("spool", task_id=task_id, success=success, **fields)
    return outcome_id


async def asummarise(
    output: Output,
    *,
    project: str | None = None,
    task_id: str | None = None,
    tool: str | None = None,
) -> Output:
    """Call `trackrecord.summarise` without blocking the event loop."""
    replaced: Output = await _in_thread(
        "summarise", output, project=project, task_id=task_id, tool=tool
    )
    return replaced


async def aartifact(
    id: str,  # noqa: A002 - what it is called everywhere else
    *,
    lines: tuple[int, int | None] | None = None,
    bytes: tuple[int, int | None] | None = None,  # noqa: A002 - as above
    limit: int | None = -1,
    project: str | None = None,
) -> Page:
    """Call `trackrecord.artifact` without blocking the event loop."""
    page: Page = await _in_thread(
        "artifact", id, lines=lines, bytes=bytes, limit=limit, project=project
    )
    return page


async def _in_thread(name: str, *given: object, **named: object) -> Any:  # noqa: ANN401 - of any call
    """Call a function of `trackrecord` in a thread beside the loop; return its result."""
    return await beside(_call, name, *given, **named)


def _call(name: str, *given: object, **named: object) -> Any:  # noqa: ANN401 - of any call
    # Importing is a good part of the first call's time.
    return getattr(import_module("trackrecord"), name)(*given, **named)
