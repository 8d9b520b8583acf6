"""What kind of error it is, and how an attempt failed."""

import asyncio
import concurrent.futures
import json
import subprocess

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import grows_by_at_most
from trackrecord.inflight.classification import MODES, classify, classify_failure, classify_text
from trackrecord.inflight.errors import ERROR_TYPES


class RateLimitError(Exception):
    pass


class ContextWindowExceededError(Exception):
    pass


class ReadTimeout(Exception):
    pass


class FileReservationConflict(Exception):
    pass


def _raised_from(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "mode"),
    [
        (TimeoutError(), "timeout", "timeout"),
        (subprocess.TimeoutExpired("make", 5), "timeout", "timeout"),
        (redis.TimeoutError("x"), "timeout", "timeout"), (ReadTimeout(), "timeout", "timeout"),
        (RuntimeError("request timed out after 30 s"), "timeout", "timeout"),
        (FileExistsError("a"), "conflict", "conflict"),
        (FileReservationConflict(), "conflict", "conflict"),
        (RuntimeError("409 Conflict"), "conflict", "conflict"),
        (ValueError("timeout must be positive"), "validation", "validation"),
        (TypeError("x"), "validation", "validation"),
        (AssertionError(), "validation", "validation"),
        (SyntaxError("x"), "validation", "validation"),
        (json.JSONDecodeError("x", "", 0), "validation", "validation"),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), "validation", "validation"),
        (subprocess.CalledProcessError(1, "make"), "tool_failure", "tool_failure"),
        (ConnectionRefusedError(), "tool_failure", "tool_failure"),
        (PermissionError(), "tool_failure", "tool_failure"),
        (redis.ConnectionError("x"), "tool_failure", "tool_failure"),
        (RateLimitError(), "tool_failure", "tool_failure"),
        (KeyError("timeout"), "unknown", "unknown"),
        (AttributeError("'Tool' object has no attribute 'x'"), "unknown", "unknown"),
        (RuntimeError("nobody knows"), "unknown", "unknown"), (SystemExit(3), "unknown", "unknown"),
        (KeyboardInterrupt(), "unknown", "cancelled"),
        (asyncio.CancelledError(), "unknown", "cancelled"),
        (concurrent.futures.CancelledError(), "unknown", "cancelled"),
        (ValueError("maximum context length is 8192 tokens"), "unknown", "context_overflow"),
        (ContextWindowExceededError(), "unknown", "context_overflow"),
        (RuntimeError("blocked by task bd-12"), "unknown", "dependency_blocked"),
        (_raised_from(RuntimeError("it failed"), TimeoutError()), "timeout", "timeout"),
        (ExceptionGroup("both", [ValueError(), TypeError()]), "validation", "validation"),
        (ExceptionGroup("both", [ValueError(), TimeoutError()]), "unknown", "unknown"),
    ],
)  # fmt: skip
def test_an_exception(error, kind, mode):
    """By its class, its name, its text, and what it was raised from."""
    assert classify(error) == kind
    assert classify_failure(error) == mode


@pytest.mark.parametrize(
    ("details", "mode"),
    [
        ("Operation timeout after 300 s", "timeout"),
        ("Deadline exceeded while waiting", "timeout"), ("cancelled after a timeout", "timeout"),
        ("请求超时", "timeout"), ("Merge CONFLICT in src/a.ts", "conflict"),
        ("file reservation held by agent-7", "conflict"), ("合并冲突", "conflict"),
        ("Type error in src/auth.ts", "validation"), ("3 tests failed", "validation"),
        ("参数校验不通过", "validation"),
        ("This model's maximum context length is 8192 tokens: invalid request", "context_overflow"),
        ("上下文长度超出限制", "context_overflow"),
        ("blocked by unfinished dependency", "dependency_blocked"),
        ("任务被阻塞", "dependency_blocked"), ("Cancelled by user", "cancelled"),
        ("用户取消了任务", "cancelled"), ("Tool call failed", "tool_failure"),
        ("exit code 2", "tool_failure"), ("命令执行失败", "tool_failure"),
        ("unexpectedly nothing", "unknown"), ("", "unknown"), (None, "unknown"),
        ({"reason": "timed out"}, "timeout"), ("ｔｉｍｅｏｕｔ", "timeout"),
        ("x" * 100_000 + " timed out", "timeout"),
    ],
)  # fmt: skip
def test_details_of_a_failure(details, mode):
    """In English and Chinese; what says most about the cause wins."""
    assert classify_failure(details) == mode


class Hostile(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_hostile_exceptions_are_classified_too():
    """Those that cannot describe themselves, cycles of causes, groups within groups."""
    assert classify(Hostile()) == "unknown"
    one, two = RuntimeError("1"), RuntimeError("2")
    one.__cause__, two.__cause__ = two, one
    assert classify(one) == "unknown"
    group: BaseException = ValueError()
    for _ in range(900):
        group = BaseExceptionGroup("g", [group])
    assert classify(group) in ERROR_TYPES


@pytest.mark.linear_time
@pytest.mark.parametrize(
    "text",
    ["context " * 200_000, "a" * 1_000_000, "time-" * 300_000, "上下文" * 300_000,
     "dependency_" * 100_000, "blocked " * 200_000, "\ufdfa" * 1_000_000],
)  # fmt: skip
def test_hostile_texts_take_bounded_time(text):
    """A million characters cost no more than a few thousand do."""
    assert grows_by_at_most(1, classify_failure, short=text[:10_000], long=text)


@given(st.text())
def test_any_text_has_a_mode_and_a_type(text):
    """Whatever it is."""
    assert classify_failure(text) in {mode for mode, _ in MODES} | {"unknown"}
    assert classify_text(text) in ERROR_TYPES
