"""Read the runs of logs that hold a session's messages: a line for each, or one document."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from trackrecord.wire.storable import decoded

from .conversation import Conversation
from .declaration import Action
from .json_lines import Damage, decoded_lines
from .json_values import NOT_AN_OBJECT, as_object, object_from, objects_in
from .source import Log, ReadRun, Unreadable

_LARGEST_DOCUMENT: Final = 256 * 1024 * 1024


class MessageReader:
    """An adapter's work on the records of one log.

    Args:
        agent: the agent's name.
        tools: what its tools do; see `CodingAgent`.
        path: the log.

    Attributes:
        chat: what it fills in.
        path: the log.
    """

    def __init__(self, agent: str, tools: Mapping[str, Action], path: Path) -> None:
        self.chat = Conversation(agent, tools)
        self.path = path

    def describe(self, record: dict[str, Any]) -> None:
        """Take what the first record tells of the session, also when reading goes on later."""

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a record that begins at a position of the log."""
        raise NotImplementedError

    def fill(self, document: dict[str, Any]) -> Conversation:
        """Take a document that holds all messages of a session."""
        self.describe(document)
        for place, message in enumerate(objects_in(document.get("messages"))):
            self.take(message, place)
        return self.chat


def read_records(log: Log, resume_at: int, reader: MessageReader) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of a log of JSON lines from a position on, and what could not be read."""
    chat, end = reader.chat, resume_at
    try:
        if resume_at:
            _describe_first(log, reader)
        for line, record in decoded_lines(log.path, resume_at, object_from):
            end = line.end
            if isinstance(record, Damage):
                chat.lose(is_record=record.is_record)
                if record.unreadable is not None:
                    yield record.unreadable
                continue
            if not line.start:
                reader.describe(record)
            reader.take(record, line.start)
            yield from chat.followed(end)
    except OSError as error:
        yield Unreadable(place="the file", reason=error.strerror or "it cannot be read")
    yield from chat.rest(end)


def _describe_first(log: Log, reader: MessageReader) -> None:
    for _, record in decoded_lines(log.path, 0, object_from):
        if not isinstance(record, Damage):
            reader.describe(record)
        return


def read_document(log: Log, reader: MessageReader) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of a log that is one document of JSON, all of them each time."""
    try:
        if log.size > _LARGEST_DOCUMENT:
            yield Unreadable(place="the file", reason="it is too large")
            return
        document = as_object(decoded(log.path.read_bytes()))
    except OSError as error:
        yield Unreadable(place="the file", reason=error.strerror or "it cannot be read")
    except (ValueError, RecursionError):
        yield Unreadable(place="the file", reason=NOT_AN_OBJECT)
    else:
        for found in reader.fill(document).rest(log.size):
            yield msgspec.structs.replace(found, resume_at=0)


def reading_with(
    reader: type[MessageReader], agent: str, tools: Mapping[str, Action]
) -> Callable[[Log, int], Iterator[ReadRun | Unreadable]]:
    """Return what reads the logs of an agent with a reader of its own; see `LogFiles`."""

    def read(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
        is_document, made = log.path.suffix == ".json", reader(agent, tools, log.path)
        return read_document(log, made) if is_document else read_records(log, resume_at, made)

    return read
