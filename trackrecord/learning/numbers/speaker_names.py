"""Names of speakers: a source, a person, a token, a process of this machine."""

from typing import Final

# Speakers that no source can name: "@" begins none of those.
PERSON: Final = "@person"
LOCAL: Final = "@local"
TOKEN: Final = "@token:"  # noqa: S105 - not a secret


def speaker_named(source: str | None) -> str:
    """Return the speaker of a source's name; it cannot take a name that belongs to another kind."""
    name = source or ""
    return f"@{name}" if name[:1] == "@" else name
