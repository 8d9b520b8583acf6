"""The settings of notifications: the receivers, and the news for them."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from trackrecord.learning.numbers.checks import require

# The names that `operation/news.py` gives them; a test compares both.
EVENTS: Final = (
    "pattern.proven",
    "pattern.broke",
    "pattern.warning",
    "pattern.lifted",
    "lesson.appeared",
    "consolidation.failed",
    "dead-letters.grew",
)
CHANNELS: Final = ("webhook", "command")
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what every secret begins with, and no secret
_SECRET_BYTES: Final = (24, 64)


@dataclass(frozen=True)
class NotifySettings:
    """The receivers of notifications, and the news that they get.

    Attributes:
        url: webhook to which each piece of news is posted as JSON, signed as Standard Webhooks
            (https://www.standardwebhooks.com) asks for.
        secret: key of the signature, 24 to 64 bytes in base64, with or without `whsec_` in front;
            `openssl rand -base64 32` makes one. It must be set if `url` is.
        command: program that is started for each piece of news, with its arguments; it reads the
            same JSON from its standard input, and exit status 0 means that it was told.
        events: names of the events that are told: pattern.proven, pattern.broke, pattern.warning,
            pattern.lifted, lesson.appeared, consolidation.failed, dead-letters.grew.
        timeout_s: how long an answer of the webhook, or the end of the command, is waited for.
    """

    url: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)
    command: tuple[str, ...] = ()
    events: tuple[str, ...] = EVENTS
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        require(self.url is None or _is_url(self.url), "url must be an http:// or https:// URL")
        require(
            self.url is None or self.secret is not None,
            "secret must be set if url is; `openssl rand -base64 32` makes one",
        )
        require(
            self.secret is None or _is_key(self.secret),
            "secret must be 24 to 64 bytes in base64; `openssl rand -base64 32` makes one",
        )
        require(
            all(self.command) and not any("\0" in word for word in self.command),
            "command must be a JSON array of texts that are not empty",
        )
        # The processes that would start it have a working folder of their own.
        require(
            "/" not in "".join(self.command[:1]) or self.command[0].startswith("/"),
            "command must begin with a program's name or its absolute path",
        )
        unknown = sorted(set(self.events) - set(EVENTS))
        require(
            not unknown,
            f"events must be some of {', '.join(EVENTS)}, not {', '.join(unknown)!r:.80}",
        )
        require(0.1 <= self.timeout_s <= 60, "timeout_s must lie in 0.1..60")

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels that are set."""
        return tuple(
            name for name, value in zip(CHANNELS, (self.url, self.command), strict=True) if value
        )


def key_of(secret: str) -> bytes:
    """Return the key of the signature from a secret in base64.

    Raises:
        ValueError: it is not base64.
    """
    try:
        return base64.b64decode(secret.strip().removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _is_key(secret: str) -> bool:
    fewest, most = _SECRET_BYTES
    try:
        return fewest <= len(key_of(secret)) <= most
    except ValueError:
        return False


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
