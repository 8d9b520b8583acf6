"""Dead letters: outcomes that could not be learnt, grouped by the reason."""

from trackrecord.queries import dead_letters

from ..answering import Deed, Shown
from ..asked import Asked
from ..forms import Form

_PATH = "/dead-letters"


def shown(asked: Asked) -> Shown:
    """Show the dead letters."""
    with asked.redis() as client:
        letters, more = dead_letters.list_letters(
            client, asked.floor.settings.keys, limit=100, at=asked.at
        )
    return Shown("dead_letters.html", "Dead letters", {"letters": letters, "more": more})


def replay(asked: Asked, form: Form) -> Deed:
    """Put letters back into the stream."""
    raise NotImplementedError


def discard(asked: Asked, form: Form) -> Deed:
    """Delete letters."""
    raise NotImplementedError
