"""A file of another program while it is changed, with the edits that undo every change."""

import hashlib
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from .json_text import Edit

_BOM: Final = "\ufeff"
_LARGEST: Final = 16 * 1024 * 1024


class DraftRefused(Exception):
    """Raised where a file is left alone; the message is one line with the reason."""


class Draft:
    """The text of a file, and the edits that restore its original.

    Attributes:
        path: where the file is.
        text: its text by now; None where there is no file.
        undo: the edits that lead back, the first one to apply last.
        had_ours: whether it held something of ours before.
    """

    def __init__(self, path: Path, text: str | None) -> None:
        self.path = path
        self.before = text
        self.text = text
        self.undo: list[Edit] = []
        self.had_ours = False

    def apply(self, edits: Iterable[Edit]) -> None:
        """Make edits that do not overlap."""
        for edit in sorted(edits, key=lambda each: each.start, reverse=True):
            text = self.text or ""
            self.undo.append(
                Edit(edit.start, edit.start + len(edit.text), text[edit.start : edit.end])
            )
            self.text = text[: edit.start] + edit.text + text[edit.end :]

    @property
    def is_changed(self) -> bool:
        """Return whether anything would be written."""
        return self.text != self.before


class Receipt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record of the changes to one file.

    Attributes:
        path: the file.
        is_ours: whether there was none before.
        digest: of its text afterwards.
        undo: the edits that lead back from that text.
        made: the names of what was made to hold our entries, the outermost first.
        folders: the folders that were made to hold the file, the innermost first.
    """

    path: str
    is_ours: bool = False
    digest: str = ""
    undo: tuple[Edit, ...] = ()
    made: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def digest_of(text: str | None) -> str:
    """Return the digest that identifies a text."""
    return "" if text is None else hashlib.sha256(text.encode(errors="replace")).hexdigest()


def is_undone(draft: Draft, receipt: Receipt) -> bool:
    """Make a file what it was before, if it was not changed since; return whether it is."""
    if draft.text is None or receipt.digest != digest_of(draft.text):
        return False
    for edit in reversed(receipt.undo):
        draft.text = draft.text[: edit.start] + edit.text + draft.text[edit.end :]
    return True


def receipt_of(draft: Draft, earlier: Receipt | None, made: Sequence[str] = ()) -> Receipt:
    """Return the record of changes to a file, now and earlier.

    Where it held something of ours whose edits are not on record, or was changed since, this
    time's edits alone would bring older entries of ours back: then they are looked for instead.
    """
    if earlier is None:
        is_exact = draft.is_changed and not draft.had_ours
        return Receipt(
            path=str(draft.path),
            is_ours=draft.before is None,
            digest=digest_of(draft.text) if is_exact else "",
            undo=tuple(draft.undo) if is_exact else (),
            made=tuple(made),
            folders=missing_folders(draft.path),
        )
    if not draft.is_changed:
        return earlier
    goes_on = earlier.digest == digest_of(draft.before)
    return msgspec.structs.replace(
        earlier,
        digest=digest_of(draft.text) if goes_on else "",
        undo=(*earlier.undo, *draft.undo) if goes_on else (),
        made=tuple(dict.fromkeys((*earlier.made, *made))),
    )


def missing_folders(path: Path) -> tuple[str, ...]:
    """Return the folders that have to be made for a file, the innermost first."""
    missing = []
    for folder in path.parents:
        if folder.exists():
            break
        missing.append(str(folder))
    return tuple(missing)


def read_text(path: Path) -> str | None:
    """Return the text of a file; None if it does not exist.

    Raises:
        DraftRefused: it cannot be read, or is not a text.
    """
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):  # a pipe would be waited for
            message = f"{path} is not a regular file: left alone"
            raise DraftRefused(message)
        if facts.st_size > _LARGEST:
            message = f"{path} is too large for a configuration: left alone"
            raise DraftRefused(message)
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}): left alone"
        raise DraftRefused(message) from None
    except UnicodeDecodeError:
        message = f"{path} is not UTF-8: left alone"
        raise DraftRefused(message) from None


def opened(path: Path) -> Draft:
    """Return a file that may be changed.

    Raises:
        DraftRefused: it cannot be read.
    """
    return Draft(path, read_text(path))


def without_bom(text: str) -> tuple[str, str]:
    """Return a text's byte order mark, if it has one, and the rest."""
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
