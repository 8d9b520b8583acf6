"""The words of texts that report how an attempt failed, in English and in Chinese."""

import re
from typing import Final, Literal

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
