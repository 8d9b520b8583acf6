"""How a run ended, by what its root and its last request to a model say."""

import re
from collections.abc import Sequence
from typing import Final

from ..agent_run import Seen, Sign
from .fact import Fact
from .vocabulary import Kind

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


def ending_of(root: Fact, facts: Sequence[Fact]) -> Sign | None:
    """Return how a run ended, if it raised; a root without an error proves nothing."""
    if not _has_failed(root):
        return None
    words = f"{root.error_type} {root.error}".strip()
    if _INTERRUPTS.search(root.error_type) or _INTERRUPTS.search(root.error):
        kind = Seen.INTERRUPTED
    elif _API.search(root.error_type) or _API.search(root.error[:_SAYS_CHARS]):
        kind = Seen.API_FAILED
    else:
        kind = Seen.API_FAILED if _model_failed_last(facts) else Seen.CRASHED
    return Sign(kind=kind, says=words[:_SAYS_CHARS], at=root.end or None)


def _has_failed(root: Fact) -> bool:
    return root.status == "error" or bool(root.error_type) or root.failed is True


def _model_failed_last(facts: Sequence[Fact]) -> bool:
    """Return whether the last thing that happened was a request to a model that failed."""
    acts = [fact for fact in facts if fact.kind in (Kind.MODEL, Kind.TOOL)]
    return bool(acts) and acts[-1].kind is Kind.MODEL and _has_failed(acts[-1])
