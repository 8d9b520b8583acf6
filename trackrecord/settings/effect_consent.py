"""The user's consent to measure the effect of advice: asked for once, kept in a file.

Measuring costs something: a share of the tasks gets no advice. Without a word from the user nothing
is withheld.
"""

from pathlib import Path

from trackrecord.process.folders import make_private_folder

_FILE = "measure-effect"
_YES = "yes"
_NO = "no"


def effect_consent(home: Path) -> bool | None:
    """Return whether the user agreed; None if never asked.

    Args:
        home: TRACKRECORD_HOME.
    """
    try:
        said = (home / _FILE).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
    return {_YES: True, _NO: False}.get(said)


def note_effect_consent(home: Path, *, is_given: bool) -> None:
    """Store the user's answer.

    Raises:
        OSError: the home cannot be written.
    """
    make_private_folder(home)
    (home / _FILE).write_text(f"{_YES if is_given else _NO}\n", encoding="utf-8")


def forget_effect_consent(home: Path) -> None:
    """Remove the user's answer, so that the question is asked again.

    Raises:
        OSError: the home cannot be written.
    """
    (home / _FILE).unlink(missing_ok=True)
