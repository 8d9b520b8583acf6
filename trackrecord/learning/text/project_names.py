"""The one rule for the names of projects: on the wire, in the settings, in `--project`."""

from typing import Annotated, Final

from msgspec import Meta

DEFAULT_PROJECT: Final = "default"
MAX_CHARS: Final = 128

# The check of the wire format's decoder, which refuses NUL and lone surrogates anywhere.
ProjectName = Annotated[str, Meta(min_length=1, max_length=MAX_CHARS)]


def checked_project(name: object) -> str:
    """Return the name if a project can have it.

    Raises:
        ValueError: the name is not a text, is empty or too long, or holds what the wire refuses.
    """
    if not isinstance(name, str) or not _is_project(name):
        message = f"a project's name has 1 to {MAX_CHARS} characters and no NUL"
        raise ValueError(message)
    return name


def _is_project(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return 1 <= len(name) <= MAX_CHARS and "\0" not in name
