"""Logs of Inspect, the framework for evaluations: `.eval` files, a ZIP archive of JSON.

`header.json` describes the evaluation; each sample is a file below `samples/`: its input, its
messages with the calls of tools, its scores. The first score is the verdict, found by an evaluator;
one that is neither full nor nothing is no verdict. A sample that raised an error is a failure with
that error. Newer versions compress with Zstandard.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, Protocol

import msgspec

from trackrecord.errors import ImportFormatError, InvalidOutcome
from trackrecord.inflight.classification import classify_failure

from ..bodies.body import write_body
from .records import Imported, Rejected, stable_id
from .values import arguments_in, clean

PREFIX: Final = "inspect"
# Far more than any sample has; an archive could claim anything.
_LARGEST_PART: Final = 64 * 1024 * 1024
_LONGEST_TEXT: Final = 16_384
_LONGEST_ERROR: Final = 1000
_LONGEST_NAME: Final = 128
_ZSTANDARD: Final = 93
_FULL: Final = frozenset({"C", "correct", "pass", "yes", "true"})
_NOTHING: Final = frozenset({"I", "N", "incorrect", "fail", "no", "false"})
_ATTACHMENT: Final = "attachment://"
_MS_A_SECOND: Final = 1000


class _WrongShape(Exception):
    """Raised when a part of a sample does not match the format."""


class _Part(Protocol):
    filename: str
    file_size: int
    compress_type: int


class _Archive(Protocol):
    def infolist(self) -> list[Any]: ...

    def open(self, name: Any, mode: Any = "r") -> IO[bytes]: ...  # noqa: ANN401 - as zipfile has it

    def close(self) -> None: ...


def read_inspect(path: Path) -> Iterator[Imported | Rejected]:
    """Yield the outcomes of a log's samples one by one; a bad sample stops no other one.

    Raises:
        ImportFormatError: the file cannot be read or is not a log of Inspect.
    """
    archive = _opened(path)
    try:
        evaluation = _evaluation(archive, path)
        for record, part in enumerate(_parts(archive), start=1):
            try:
                fields = _outcome(evaluation, _decoded(archive, part))
                write_body(fields)
            except (_WrongShape, InvalidOutcome, RecursionError) as error:
                yield Rejected(record, f"not a sample of inspect: {error}")
            else:
                yield Imported(record, fields)
    finally:
        archive.close()


def _opened(path: Path) -> _Archive:
    import zipfile

    try:
        archive: _Archive = zipfile.ZipFile(path)
        if any(part.compress_type == _ZSTANDARD for part in archive.infolist()):
            archive.close()
            archive = _with_zstandard(path)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ImportFormatError(message) from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        message = f"{path} is not a log of inspect (a ZIP archive whose name ends with .eval)"
        raise ImportFormatError(message) from None
    return archive


def _with_zstandard(path: Path) -> _Archive:
    import sys
    import zipfile

    if sys.version_info >= (3, 14):
        return zipfile.ZipFile(path)
    try:
        from backports.zstd import zipfile as newer
    except ImportError:
        message = f"{path} needs the package backports.zstd: pip install 'trackrecord[worker]'"
        raise ImportFormatError(message) from None
    archive: _Archive = newer.ZipFile(path)
    return archive


def _parts(archive: _Archive) -> list[_Part]:
    return [part for part in archive.infolist() if part.filename.startswith("samples/")]


def _evaluation(archive: _Archive, path: Path) -> dict[str, Any]:
    """Return the facts of the evaluation as a whole.

    One that was cut off has no header yet, but a journal.
    """
    named = {part.filename: part for part in archive.infolist()}
    for name in ("header.json", "_journal/start.json"):
        if name in named:
            try:
                evaluation = _object(_decoded(archive, named[name]).get("eval"))
            except _WrongShape:
                continue
            if evaluation:
                return evaluation
    message = f"{path} is not a log of inspect: it describes no evaluation"
    raise ImportFormatError(message)


def _decoded(archive: _Archive, part: _Part) -> dict[str, Any]:
    if part.file_size > _LARGEST_PART:
        message = f"it has more than {_LARGEST_PART} bytes"
        raise _WrongShape(message)
    try:
        with archive.open(part) as file:
            text = file.read(_LARGEST_PART + 1)
        # What a part says of its size need not be true.
        decoded = msgspec.json.decode(text) if len(text) <= _LARGEST_PART else None
    except Exception as error:  # noqa: BLE001 - what a damaged archive's compression raises
        message = f"it cannot be read ({type(error).__name__})"
        raise _WrongShape(message) from None
    if not isinstance(decoded, dict):
        message = "it is not an object"
        raise _WrongShape(message)
    return decoded


def _outcome(evaluation: Mapping[str, Any], sample: dict[str, Any]) -> dict[str, Any]:
    task = str(evaluation.get("task_display_name") or evaluation.get("task") or "task")
    tool_graph = list(_calls(sample))
    error = _object(sample.get("error"))
    fields = {
        "outcome_id": _id_of(evaluation, sample),
        "task_id": clean(f"{PREFIX}/{task}/{sample.get('id')}")[:256],
        "source": clean(str(evaluation.get("model") or PREFIX))[:_LONGEST_NAME],
        "instruction": clean(_input(sample)[:_LONGEST_TEXT]) or None,
        "timestamp": sample.get("completed_at") or sample.get("started_at"),
        "duration_ms": _duration(sample),
        "error_count": sum(call.get("ok") is False for call in tool_graph),
        "tool_graph": tool_graph,
        "cost": _cost(sample),
        **(_crashed(error) if error else _scored(sample)),
    }
    return {name: each for name, each in fields.items() if each is not None or name == "success"}


def _id_of(evaluation: Mapping[str, Any], sample: dict[str, Any]) -> str:
    own = sample.get("uuid")
    if isinstance(own, str) and own:
        return str(clean(f"{PREFIX}-{own}"))[:_LONGEST_NAME]
    # Older logs: the sample's number and epoch within the evaluation.
    parts = [evaluation.get("run_id"), evaluation.get("task_id"), sample.get("id")]
    return stable_id(PREFIX, msgspec.json.encode([*parts, sample.get("epoch")]))


def _crashed(error: Mapping[str, Any]) -> dict[str, Any]:
    said = str(error.get("message") or "it raised an error")
    return {
        "success": False,
        "outcome_source": "evaluator",
        "failure_mode": classify_failure(said),
        "failure_details": clean(said[:_LONGEST_ERROR]),
        "grounds": [{"kind": "crashed", "says": clean(said[:300])}],
    }


def _scored(sample: dict[str, Any]) -> dict[str, Any]:
    scores = _object(sample.get("scores"))
    for name, score in scores.items():
        value = _object(score).get("value")
        success = _success(value)
        says = clean(f"{name}: {value}")[:300]
        ground = {"kind": "evaluated", "says": says}
        if success is None:
            return {"success": None, "grounds": [ground]}
        return {"success": success, "outcome_source": "evaluator", "grounds": [ground]}
    return {"success": None, "grounds": [{"kind": "nothing seen"}]}


def _success(value: object) -> bool | None:
    """Return the success of a score: full is a success, zero is a failure, others are unknown."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return True if value >= 1 else False if value <= 0 else None
    if isinstance(value, str):
        folded = value if len(value) == 1 else value.lower()
        return True if folded in _FULL else False if folded in _NOTHING else None
    return None


def _input(sample: dict[str, Any]) -> str:
    given = sample.get("input")
    if isinstance(given, list):
        asked = [each for each in map(_object, given) if each.get("role") == "user"]
        given = asked[0].get("content") if asked else ""
    return _text(given, sample)


def _calls(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    messages = [_object(each) for each in _list(sample.get("messages"))]
    answers = {
        str(each.get("tool_call_id")): each for each in messages if each.get("role") == "tool"
    }
    for message in messages:
        for call in map(_object, _list(message.get("tool_calls"))):
            name = call.get("function")
            if not isinstance(name, str):
                continue
            call_id = str(call.get("id"))
            yield {
                "tool": clean(name[:_LONGEST_NAME]),
                "id": clean(call_id[:_LONGEST_NAME]),
                "args": arguments_in(call.get("arguments")),
                **_answer(answers.get(call_id), sample),
            }


def _answer(answer: dict[str, Any] | None, sample: dict[str, Any]) -> dict[str, Any]:
    if answer is None:
        return {}
    error = answer.get("error")
    if error is None:
        return {"ok": True}
    said = _object(error).get("message") or _text(answer.get("content"), sample)
    return {"ok": False, "error": clean(str(said)[:_LONGEST_ERROR])}


def _text(content: object, sample: dict[str, Any]) -> str:
    """Return the text of a message; long ones are stored elsewhere in the sample."""
    if isinstance(content, list):
        return "\n".join(_text(_object(each).get("text"), sample) for each in content)
    if not isinstance(content, str):
        return ""
    if content.startswith(_ATTACHMENT):
        kept = _object(sample.get("attachments")).get(content.removeprefix(_ATTACHMENT))
        return kept if isinstance(kept, str) else ""
    return content


def _duration(sample: dict[str, Any]) -> int | None:
    seconds = sample.get("total_time")
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return max(0, round(seconds * _MS_A_SECOND)) if is_number else None  # type: ignore[operator] # a number


def _cost(sample: dict[str, Any]) -> dict[str, int] | None:
    usages = [_object(each) for each in _object(sample.get("model_usage")).values()]
    if not usages:
        return None
    return {
        "tokens_in": sum(_count(usage.get("input_tokens")) for usage in usages),
        "tokens_out": sum(_count(usage.get("output_tokens")) for usage in usages),
    }


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
