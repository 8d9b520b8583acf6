"""The sessions of older versions of opencode: a file for each session, message and part."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...agent_run import run_outcome_id
from ..json_values import as_count, as_object, as_text, object_from
from ..source import Log, ReadRun, Unreadable
from .records import Record, Session, StoredMessage
from .runs import NAME, exchanges, runs_of

_LONGEST_FILE: Final = 16 * 1024 * 1024
_MILLIS_A_NANO: Final = 1e6


def session_logs(storage: Path) -> Iterator[Log]:
    """Find the sessions in a storage folder of older versions."""
    for path in storage.glob("session/*/*.json"):
        messages = _message_paths(path)
        try:
            facts = [each.stat() for each in (path, *messages)]
        except OSError:
            continue
        size = sum(each.st_size for each in facts)
        yield Log(path=path, size=size, version=max(each.st_mtime_ns for each in facts))


def _storage(session: Path) -> Path:
    return session.parent.parent.parent


def _message_paths(session: Path) -> list[Path]:
    return sorted((_storage(session) / "message" / session.stem).glob("*.json"))


def read_session(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of one session that changed at a moment or later, and its unreadable parts."""
    yield from _Reader(log.path).read(log, resume_at)


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._storage = _storage(path)
        self._bad: list[Unreadable] = []

    def read(self, log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
        session = _session(self._object(self._path), self._path.stem)
        messages = sorted(self._messages(self._path), key=_created)
        parent = self._parent_run(session)
        yield from runs_of(
            session, messages, self._parts, parent=parent, since=resume_at, position=log.size
        )
        yield from self._bad

    def _messages(self, session: Path) -> Iterator[StoredMessage]:
        for path in _message_paths(session):
            try:
                touched = int(path.stat().st_mtime_ns / _MILLIS_A_NANO)
                yield StoredMessage(path.stem, touched, object_from(_bytes(path)))
            except (OSError, ValueError, RecursionError) as error:
                self._note(path, error)

    def _parts(self, message_id: str) -> list[Record]:
        parts = []
        for path in sorted((self._storage / "part" / message_id).glob("*.json")):
            try:
                parts.append(object_from(_bytes(path)))
            except (OSError, ValueError, RecursionError) as error:
                self._note(path, error)
        return parts

    def _parent_run(self, session: Session) -> str:
        """Return the outcome_id of the run whose call started this session; "" if none is found."""
        parent = next(self._storage.glob(f"session/*/{session.parent}.json"), None)
        if not session.parent or parent is None:
            return ""
        owner = Session(id=session.parent)
        messages = sorted(self._messages(parent), key=_created)
        for exchange in exchanges(owner, messages, self._parts):
            parts = (p for stored in exchange.messages for p in self._parts(stored.id))
            if any(part.get("type") == "tool" and session.id in str(part) for part in parts):
                return run_outcome_id(NAME, session.parent, exchange.messages[0].id)
        return ""

    def _object(self, path: Path) -> Record:
        try:
            return object_from(_bytes(path))
        except (OSError, ValueError, RecursionError) as error:
            self._note(path, error)
            return {}

    def _note(self, path: Path, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        bad = Unreadable(place=path.name, reason=reason or "it cannot be read")
        if bad not in self._bad:
            self._bad.append(bad)


def _bytes(path: Path) -> bytes:
    if path.stat().st_size > _LONGEST_FILE:
        message = "it is too long"
        raise ValueError(message)
    return path.read_bytes()


def _session(info: Record, name: str) -> Session:
    return Session(
        id=name,
        folder=as_text(info.get("directory")),
        parent=as_text(info.get("parentID")) if _is_plain(info.get("parentID")) else "",
        reverted=as_text(as_object(info.get("revert")).get("messageID")),
        reverted_at=_moment(info, "updated"),
        begun_at=_moment(info, "created"),
    )


def _is_plain(name: object) -> bool:
    """Return whether an id is safe in a file name as it is."""
    return isinstance(name, str) and name.replace("_", "").replace("-", "").isalnum()


def _created(stored: StoredMessage) -> tuple[int, str]:
    return _moment(stored.message, "created"), stored.id


def _moment(info: Record, name: str) -> int:
    return as_count(as_object(info.get("time")).get(name)) or 0
