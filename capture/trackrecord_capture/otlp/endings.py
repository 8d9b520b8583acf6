"""The ending of a run, from its root and its last request to a model."""

import re
from collections.abc import Sequence
from typing import Final

from ..agent_run import Signal, SignalKind
from .fact import Fact
from .vocabulary import SpanKind

_SAYS_CHARS: Final = 1000
_INTERRUPTS: Final = re.compile(
    r"(?:^|\.)(?:KeyboardInterrupt|CancelledError|AbortError|UserAbort\w*)$|\binterrupted by user\b"
)
# The errors of the clients of models: their API refused or failed, which is nobody's failure.
_API: Final = re.compile(
    r"(?:^|[.\s'\"(])(?:API\w*Error|APITimeoutError|RateLimitError|AuthenticationError|"
    r"PermissionDeniedError|OverloadedError|InternalServerError|ServiceUnavailableError|"
    r"ModelHTTPError|ModelAPIError|ThrottlingException|ModelThrottledException|"
    r"ServiceUnavailable|TooManyRequests|InsufficientQuotaError|AI_APICallError|AI_RetryError)\b"
)
# The same from below the client. A tool may raise these as well.
_NETWORK: Final = re.compile(
    r"(?:^|[.\s'\"(])(?:Connect(?:ion)?(?:Reset|Refused)?Error|Connect(?:ion)?Timeout|ReadTimeout|"
    r"ReadError|RemoteProtocolError|TimeoutError|HTTPStatusError|HTTPError|URLError)\b|"
    r"\b(?:status|http|code)\W{1,3}(?:429|5\d\d)\b|\b(?:429|5\d\d)\s+(?:service|too many|internal|"
    r"bad gateway|gateway)|\boverloaded\b|\brate.?limit",
    re.IGNORECASE,
)


def ending_of(root: Fact, facts: Sequence[Fact]) -> Signal | None:
    """Return how a run ended, if it raised; a root without an error proves nothing."""
    if not _has_failed(root):
        return None
    words = f"{root.error_type} {root.error}".strip()
    if _INTERRUPTS.search(root.error_type) or _INTERRUPTS.search(root.error):
        kind = SignalKind.INTERRUPTED
    elif _API.search(root.error_type) or _API.search(root.error[:_SAYS_CHARS]):
        kind = SignalKind.API_FAILED
    else:
        is_api = _model_failed_last(facts) or (
            _NETWORK.search(words[:_SAYS_CHARS]) and not _tool_failed_last(facts)
        )
        kind = SignalKind.API_FAILED if is_api else SignalKind.CRASHED
    return Signal(kind=kind, says=words[:_SAYS_CHARS], at=root.end or None)


def _has_failed(root: Fact) -> bool:
    return root.status == "error" or bool(root.error_type) or root.failed is True


def _model_failed_last(facts: Sequence[Fact]) -> bool:
    """Return whether the last thing that happened was a request to a model that failed."""
    last = _last_act(facts)
    return last is not None and last.kind is SpanKind.MODEL and _has_failed(last)


def _tool_failed_last(facts: Sequence[Fact]) -> bool:
    last = _last_act(facts)
    return last is not None and last.kind is SpanKind.TOOL and _has_failed(last)


def _last_act(facts: Sequence[Fact]) -> Fact | None:
    acts = (fact for fact in reversed(facts) if fact.kind in (SpanKind.MODEL, SpanKind.TOOL))
    return next(acts, None)
