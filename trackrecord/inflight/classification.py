"""Classify errors and failed attempts by class, by name and by text.

Texts come from outside and may be long or hostile: only their beginning and their end are examined,
and every expression is a plain list of words, so that the time is bounded.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, Literal

from .errors import ErrorType

FailureMode = Literal[
    "timeout",
    "conflict",
    "validation",
    "context_overflow",
    "dependency_blocked",
    "cancelled",
    "tool_failure",
    "unknown",
]


def _phrases(english: tuple[str, ...], chinese: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of phrases; a blank in an English one also matches `_`, `-` or nothing.

    No expression here repeats anything without a bound: it takes linear time on any text.
    """
    spelt = "|".join(re.escape(phrase).replace(r"\ ", "[ _-]?") for phrase in english)
    return re.compile("|".join([f"(?<![a-z])(?:{spelt})", *chinese]))


# In the order in which they are tried; phrases that say more about the cause come first.
MODES: Final[tuple[tuple[FailureMode, re.Pattern[str]], ...]] = (
    (
        "context_overflow",
        _phrases(
            (
                "context length", "context window", "context limit", "context overflow",
                "context size", "context budget", "context exceeded", "context is full",
                "context full", "context too", "maximum context", "out of context",
                "exceeds context", "exceeded context", "token limit", "token budget",
                "too many tokens", "max tokens", "maximum tokens", "tokens exceed",
                "maximum number of tokens", "prompt is too long", "prompt too long",
                "input is too long", "input too long",
            ),
            (
                "上下文(?:长度|窗口|过长|溢出|超出|超限|已满)", "超出上下文", "超过上下文",
                "(?:token|令牌)数?(?:超出|超过|超限|上限)",
            ),
        ),
    ),
    (
        "timeout",
        _phrases(
            (
                "time out", "timed out", "times out", "timing out", "etimedout",
                "deadline exceeded", "deadline expired", "past the deadline", "time limit",
                "took too long", "taking too long", "readtimeout", "connecttimeout",
                "pooltimeout", "writetimeout",
            ),
            ("超时", "时间限制", "超过时限", "逾时"),
        ),
    ),
    (
        "conflict",
        _phrases(
            (
                "conflict", "already exist", "already reserved", "already locked",
                "already claimed", "already held", "file exists", "reserved by",
                "reservation", "locked by", "is locked", "deadlock", "lock held",
                "race condition", "duplicate key", "unique constraint", "integrity error",
                "stale", "concurrent modif", "concurrent update", "could not serialize",
                "serialization failure", "modified by another", "eexist",
                "non fast forward", "http 409", "status 409",
            ),
            ("冲突", "已存在", "已被(?:锁定|占用|预留)", "死锁"),
        ),
    ),
    (
        "dependency_blocked",
        _phrases(
            (
                "blocked by", "is blocked", "task blocked", "blocked on", "blocked until",
                "blocked waiting", "dependency blocked", "blocked dependency", "blocker",
                "waiting for dependency", "waiting on dependency",
                "waiting for another task", "dependency not", "dependency is not",
                "dependencies not", "dependencies are not", "dependency failed",
                "unmet dependency", "unmet dependencies", "missing dependency",
                "missing dependencies", "unresolved dependency", "unresolved dependencies",
                "upstream task", "prerequisite", "depends on unfinished",
                "depends on failed",
            ),
            (
                "被阻塞", "阻塞于", "依赖项?(?:未|缺失|失败|阻塞|没有)", "等待依赖", "前置任务",
            ),
        ),
    ),
    (
        "cancelled",
        _phrases(
            (
                "cancelled", "canceled", "cancellation", "cancelling", "canceling",
                "cancel requested", "user cancel", "aborted by", "user abort",
                "interrupted by", "user interrupt", "keyboard interrupt", "sigint",
                "sigterm", "stopped by user", "terminated by user", "killed by user",
            ),
            ("取消", "(?:用户|被)(?:中止|终止|中断)"),
        ),
    ),
    (
        "validation",
        _phrases(
            (
                "validation", "validate", "validator", "invalid", "schema", "type error",
                "value error", "type check", "type mismatch", "incompatible type",
                "not assignable", "syntax error", "parse error", "parsing error",
                "failed to parse", "could not parse", "cannot parse", "unable to parse",
                "decode error", "malformed", "assertion", "tests failed", "test failed",
                "test failure", "failing test", "lint", "expected", "required field",
                "missing field", "missing required", "must be", "must not", "out of range",
                "not a valid", "unprocessable", "bad request", "constraint",
            ),
            (
                "验证", "校验", "无效", "非法", "格式(?:错误|不正确)", "语法错误", "类型错误",
                "断言", "解析(?:错误|失败)", "测试(?:失败|未通过)", "缺少(?:必填|字段)",
                "不合法",
            ),
        ),
    ),
    (
        "tool_failure",
        _phrases(
            (
                "tool", "command failed", "command not found", "command returned",
                "called process error", "exit code", "exit status", "exited with",
                "returned non zero", "non zero", "subprocess", "process failed",
                "process exited", "segmentation fault", "permission denied",
                "no such file", "file not found", "not a directory", "is a directory",
                "no space left", "connection refused", "connection reset",
                "connection error", "connection aborted", "connection closed",
                "broken pipe", "econnre", "enoent", "eacces", "network", "unreachable",
                "dns", "api error", "http error", "http status", "status code",
                "rate limit", "too many requests", "internal server error", "bad gateway",
                "service unavailable", "function call failed", "execution failed",
                "os error",
            ),
            (
                "工具", "命令(?:失败|执行|不存在|未找到|返回)", "退出码",
                "连接(?:失败|被拒|被重置|断开)", "权限(?:不足|被拒)", "没有那个文件",
                "文件(?:不存在|未找到)", "网络(?:错误|故障|异常)", "接口(?:错误|失败|调用)",
                "调用失败", "执行失败",
            ),
        ),
    ),
)  # fmt: skip


# The informative part is at either end: a message begins with it, a traceback ends with it.
_END_CHARS: Final = 2000
_CAUSES: Final = 5
_MEMBERS: Final = 20

# Failure modes that are types of errors as well; the other modes are of type unknown.
_TYPE_OF: Final[dict[FailureMode, ErrorType]] = {
    "timeout": "timeout",
    "conflict": "conflict",
    "validation": "validation",
    "tool_failure": "tool_failure",
}

_Classes = tuple[type[BaseException], ...]

# The meaning of Python's own classes, in this order, because some derive from others. The text of
# the last ones names things of the program, which may be called anything.
_CLASSES: Final[tuple[tuple[_Classes, FailureMode], ...]] = (
    ((TimeoutError,), "timeout"),
    ((FileExistsError,), "conflict"),
    ((KeyboardInterrupt,), "cancelled"),
    ((ValueError, TypeError, AssertionError, SyntaxError), "validation"),
    ((OSError,), "tool_failure"),
    ((LookupError, NameError, AttributeError), "unknown"),
)
# Where a class's name is parted into words.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def classify(error: BaseException) -> ErrorType:
    """Return the type of an exception: by its class, its name, its text, then its causes."""
    return _TYPE_OF.get(_mode_of(error), "unknown")


def classify_text(text: str) -> ErrorType:
    """Return the type of an error of which only the message is known."""
    return _TYPE_OF.get(_mode_in(text) or "unknown", "unknown")


def classify_failure(details: object) -> FailureMode:
    """Return how an attempt failed, from an exception or a text in any form.

    The most specific cause wins: a text that names a full context and an invalid request
    is an overflow of the context.
    """
    if isinstance(details, BaseException):
        return _mode_of(details)
    if details is None:
        return "unknown"
    return _mode_in(_text_of(details)) or "unknown"


def _mode_of(error: BaseException) -> FailureMode:
    for cause in _causes(error):
        mode = _mode_by_itself(cause)
        if mode != "unknown":
            return mode
    return "unknown"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and its explicit causes."""
    cause: BaseException | None = error
    for _ in range(_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__


def _mode_by_itself(error: BaseException, depth: int = 0) -> FailureMode:
    if isinstance(error, BaseExceptionGroup) and depth < _CAUSES:
        modes = {_mode_by_itself(each, depth + 1) for each in error.exceptions[:_MEMBERS]}
        if len(modes) == 1:
            return modes.pop()
    in_text = _mode_in(_text_of(error))
    # No class stands for these; a ValueError may well tell of a context that is full.
    if in_text in ("context_overflow", "dependency_blocked"):
        return in_text
    return _mode_in_names(error) or _mode_of_class(error) or in_text or "unknown"


def _mode_in_names(error: BaseException) -> FailureMode | None:
    """Return the failure mode in the names of the classes, own class first: "ReadTimeout"."""
    for kind in type(error).__mro__:
        if kind.__module__ == "builtins":
            continue
        mode = _mode_in(_CAMEL.sub(" ", kind.__name__[:_END_CHARS]))
        if mode is not None:
            return mode
    return None


def _mode_of_class(error: BaseException) -> FailureMode | None:
    for classes, mode in _CLASSES:
        if isinstance(error, classes):
            return mode
    return None


def _mode_in(text: str) -> FailureMode | None:
    # A compatibility form may be eighteen characters long.
    plain = _ends(unicodedata.normalize("NFKC", _ends(text)).lower())
    for mode, phrases in MODES:
        if phrases.search(plain):
            return mode
    return None


def _ends(text: str) -> str:
    if len(text) <= 2 * _END_CHARS:
        return text
    return text[:_END_CHARS] + "\n" + text[-_END_CHARS:]


def _text_of(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - an agent's own object describes itself here
        return type(value).__name__
