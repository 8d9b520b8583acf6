"""The text on errors for a retry's prompt, in English and in Chinese.

Messages and stack traces are made by whatever failed, so that only what `error_summary` leaves of
them is told: what went wrong, and where. Names have the form of names, and of a context no more
than a few words stand in quotation marks. The whole texts are on record: `trackrecord errors list`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from trackrecord.learning.text.error_summary import error_summary, opening
from trackrecord.learning.text.inert import bounded, identifier
from trackrecord.learning.text.language import Language, both

from .errors import ErrorType, TaskError, TaskInFlight
from .rules import MAX_IN_CONTEXT, ErrorRules

HEADINGS: Final = both(
    "## Previous Errors\n\nThe following errors were encountered during execution:\n",
    "## 先前错误\n\n执行过程中遇到以下错误:\n",
)
_TYPES_ZH: Final[dict[ErrorType, str]] = {
    "validation": "验证",
    "timeout": "超时",
    "conflict": "冲突",
    "tool_failure": "工具失败",
    "unknown": "未知",
}
_LABELS: Final[dict[Language, tuple[str, str, str, str]]] = {
    "en": ("Context", "Tool", "Stack", "Time"),
    "zh": ("上下文", "工具", "堆栈", "时间"),
}
_RESOLVED: Final = both(" (resolved)", " (已解决)")
_TIMES: Final = both(" ({} times)", " ({}次)")
_NO_MESSAGE: Final = both("(its message tells of no failure)", "(消息未说明错误)")
_ACTION: Final[dict[Language, str]] = {
    "en": (
        "**Action Required**: Address these errors before proceeding. Consider:\n"
        "- What caused each error?\n"
        "- How can you prevent similar errors?\n"
        "- Are there patterns across error types?"
    ),
    "zh": (
        "**需要采取行动**: 继续之前先解决这些错误。请考虑:\n"
        "- 每个错误的原因是什么?\n"
        "- 如何防止类似的错误?\n"
        "- 不同类型的错误之间有没有规律?"
    ),
}
_REVIEW: Final[dict[Language, str]] = {
    "en": (
        "## Three Strikes: Review the Design\n\n"
        "{strikes} attempts at this task have failed in a row. Do not write another patch: "
        "review the design first. Consider:\n"
        "- Which assumption do all failed attempts share?\n"
        "- Is the approach itself wrong, or the way the task is divided?\n"
        "- What would a different design look like, and what speaks against it?"
    ),
    "zh": (
        "## 三振: 重新审视设计\n\n"
        "此任务已连续失败{strikes}次。不要再打补丁,先重新审视设计。请考虑:\n"
        "- 所有失败的尝试有什么共同的假设?\n"
        "- 是方法本身有问题,还是任务的拆分方式有问题?\n"
        "- 换一种设计会是什么样,有什么不利之处?"
    ),
}
_STRIKES: Final[dict[Language, str]] = {
    "en": (
        "- {} attempts at this task have failed in a row: review the design before you write "
        "another patch"
    ),
    "zh": "- 此任务已连续失败{}次: 先重新审视设计,不要再打补丁",
}
# Of a stack trace, the innermost frames: a file with its line, and the function if it is named.
_FRAME = re.compile(
    r"File \"(?P<file>[^\"\n]{1,500})\", line (?P<line>\d{1,7})"
    r"(?:, in (?P<function>[\w.<>]{1,40}))?"
    r"|(?P<path>[\w./\\@+-]{1,200}\.\w{1,6}):(?P<at>\d{1,7})"
)
_MOST_FRAMES: Final = 3
# Longer ones are cut; a context is as long as a message.
_MAX_MESSAGE: Final = 200
_MAX_STACK: Final = 100
_MOST_PHRASES: Final = 2


def retry_text(
    task: TaskInFlight,
    rules: ErrorRules | None = None,
    *,
    include_resolved: bool = False,
    language: Language = "en",
) -> str:
    """Return the text on earlier attempts for the next attempt's prompt; "" without any.

    It lists the errors, and after enough failed attempts in a row asks for a review of the design.
    """
    errors = task.errors if include_resolved else task.unresolved
    parts = []
    if errors:
        parts.append(_errors_text(errors, language))
    if task.strikes >= (rules or ErrorRules()).strikes:
        parts.append(_REVIEW[language].format(strikes=task.strikes))
    return "\n\n".join(parts)


def _errors_text(errors: Sequence[TaskError], language: Language) -> str:
    """Return the section on errors: headings count all, the newest are listed, equal ones once."""
    alike = _alike(errors)
    newest = list(alike)[-MAX_IN_CONTEXT:]
    lines = [HEADINGS[language]]
    for kind, count in Counter(error.type for error in errors).items():
        lines += [_group_heading(kind, count, language), ""]
        listed = [what for what in newest if what.type == kind]
        left_out = count - sum(len(alike[what]) for what in listed)
        if left_out:
            lines += [_left_out(left_out, language), ""]
        for what in listed:
            lines += [*_error_lines(alike[what], language), ""]
    return "\n".join([*lines, _ACTION[language]])


def _alike(errors: Sequence[TaskError]) -> dict[TaskError, list[TaskError]]:
    """Return equal errors together, in the order in which they were met last."""
    alike: dict[TaskError, list[TaskError]] = {}
    for error in errors:
        what = _without_occasion(error)
        # Taken out and put in again.
        group = alike.pop(what, [])
        group.append(error)
        alike[what] = group
    return alike


def error_lines(errors: Sequence[TaskError], language: Language) -> list[tuple[str, str]]:
    """Return one line for each error with the id of its last occasion, the newest last.

    Equal errors have one line, which says how often they were met.
    """
    return [(group[-1].id, _error_line(group, language)) for group in _alike(errors).values()]


def strikes_line(strikes: int, language: Language) -> str:
    """Return the line for a task at which this many attempts have failed in a row."""
    return _STRIKES[language].format(strikes)


def _error_line(alike: Sequence[TaskError], language: Language) -> str:
    error = alike[-1]
    message = _message(error, language)
    details = [f"{label}: {text}" for label, text in _details(error, language) if text]
    if len(alike) > 1:
        details.insert(0, _TIMES[language].format(len(alike)).strip(" ()"))
    kind = _TYPES_ZH[error.type] if language == "zh" else error.type
    return f"- {kind}: {message}" + (f" ({'; '.join(details)})" if details else "")


def _details(error: TaskError, language: Language) -> tuple[tuple[str, str], ...]:
    context, tool, stack, _ = _LABELS[language]
    activity = opening(error.context)
    return (
        (context, f'"{bounded(activity, _MAX_MESSAGE)}"' if activity else ""),
        (tool, identifier(error.tool_name) if error.tool_name else ""),
        (stack, bounded(_frames(error.stack_trace), _MAX_STACK)),
    )


def _message(error: TaskError, language: Language) -> str:
    """Return the part of an error's message that describes the failure; else its first words."""
    said = error_summary(error.message, most_phrases=_MOST_PHRASES, keeps_quoted=True)
    said = said or opening(error.message)
    return bounded(said, _MAX_MESSAGE) if said else _NO_MESSAGE[language]


def _frames(stack_trace: str) -> str:
    """Return the innermost frames of a stack trace, "cart.py:41 in total"; "" without any."""
    found = list(_FRAME.finditer(stack_trace))
    frames = (_frame(each) for each in dict.fromkeys(found[-_MOST_FRAMES:]))
    return ", ".join(dict.fromkeys(frames))


def _frame(found: re.Match[str]) -> str:
    path, line = found["file"] or found["path"], found["line"] or found["at"]
    file = re.split(r"[/\\]", path)[-1]
    where = f"{identifier(file)}:{line}"
    return f"{where} in {identifier(found['function'])}" if found["function"] else where


def _without_occasion(error: TaskError) -> TaskError:
    """Return an error without its id and time, to find equal ones."""
    return replace(error, id="", at=0.0)


def _group_heading(kind: ErrorType, count: int, language: Language) -> str:
    if language == "zh":
        return f"### {_TYPES_ZH[kind]} ({count}个错误)"
    return f"### {kind} ({count} error{'' if count == 1 else 's'})"


def _left_out(count: int, language: Language) -> str:
    if language == "zh":
        return f"- (另有{count}个较早的错误未列出)"
    return f"- ({count} earlier error{'' if count == 1 else 's'} not listed)"


def _error_lines(alike: Sequence[TaskError], language: Language) -> list[str]:
    """Return the lines of equal errors: their text once, and the time of the last one."""
    error = alike[-1]
    message = _message(error, language)
    times = _TIMES[language].format(len(alike)) if len(alike) > 1 else ""
    lines = [f"- **{message}**{times}{_RESOLVED[language] if error.resolved else ''}"]
    time = _LABELS[language][3]
    details = (*_details(error, language), (time, _time(error.at, language)))
    lines += (f"  - {label}: {text}" for label, text in details if text)
    return lines


def _time(at: float, language: Language) -> str:
    """Return a time in UTC: 12/12/2024, 10:30 AM; in Chinese 2024/12/12 10:30."""
    moment = datetime.fromtimestamp(at, UTC)
    if language == "zh":
        return f"{moment.year}/{moment.month}/{moment.day} {moment:%H:%M}"
    hour = moment.hour % 12 or 12
    half = "AM" if moment.hour < 12 else "PM"
    return f"{moment.month}/{moment.day}/{moment.year}, {hour}:{moment:%M} {half}"
