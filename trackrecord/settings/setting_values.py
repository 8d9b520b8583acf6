"""Read the values of settings by their declarations, for agents and for the daemon.

A declaration is a frozen dataclass. A field's annotation says what a setting may be: its type, its
bounds (`msgspec.Meta`), and a check of its own (`SettingCheck`); the docstring says what it is for.
Values come from the environment as text and from TOML with types; both are read alike.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from trackrecord.errors import SettingsError
from trackrecord.learning.numbers.checks import INNER

_UNBOUNDED: Final = msgspec.Meta()


@dataclass(frozen=True)
class SettingCheck:
    """A check beyond type and bounds.

    Attributes:
        apply: returns the value as it is used, or raises ValueError with one line that does not
            repeat the value: it may hold a password.
    """

    apply: Callable[[Any], Any]


@dataclass(frozen=True)
class Annotation:
    """A field's annotation, taken apart.

    Attributes:
        kind: the type without what is annotated.
        bounds: the bounds of a value.
        checks: further checks.
        is_setting: whether a user may set it; if not, only code may.
    """

    kind: Any
    bounds: msgspec.Meta = _UNBOUNDED
    checks: tuple[SettingCheck, ...] = ()
    is_setting: bool = True

    @property
    def rules(self) -> type | None:
        """The dataclass of a section of rules; None for a plain setting."""
        return self.kind if isinstance(self.kind, type) and is_dataclass(self.kind) else None


@cache
def annotations_of(declaration: type) -> dict[str, Annotation]:
    """Return the annotation of each field, in the order of declaration."""
    hints = get_type_hints(declaration, include_extras=True)
    names = getattr(declaration, "__dataclass_fields__", hints)
    return {name: _taken_apart(hints[name]) for name in names}


@cache
def settings_of(declaration: type) -> dict[str, Annotation]:
    """Return the annotation of each setting, in the order of declaration."""
    return {name: one for name, one in annotations_of(declaration).items() if one.is_setting}


def _taken_apart(hint: Any) -> Annotation:  # noqa: ANN401 - any annotation
    if get_origin(hint) is not Annotated:
        return Annotation(hint)
    plain, *notes = get_args(hint)
    metas = [note for note in notes if isinstance(note, msgspec.Meta)]
    return Annotation(
        plain,
        bounds=metas[0] if metas else _UNBOUNDED,
        checks=tuple(note for note in notes if isinstance(note, SettingCheck)),
        is_setting=INNER not in notes,
    )


def is_known(declaration: type, name: str, number: str = "") -> bool:
    """Return whether there is a setting of the name, and in its section the number."""
    annotation = settings_of(declaration).get(name)
    if annotation is None:
        return False
    return not number or (annotation.rules is not None and number in settings_of(annotation.rules))


def read_values(declaration: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those values that the declaration has, read and checked in its order.

    Raises:
        SettingsError: a value is malformed; the message names the setting, never the value.
    """
    return {
        name: _read(name, annotation, given[name])
        for name, annotation in annotations_of(declaration).items()
        if name in given
    }


def _read(name: str, annotation: Annotation, raw: object) -> Any:  # noqa: ANN401 - of many types
    value = _converted(name, annotation, raw)
    for check in annotation.checks:
        try:
            value = check.apply(value)
        except ValueError as error:
            raise _wrong(name, str(error)) from None
    return value


def _converted(name: str, annotation: Annotation, raw: object) -> Any:  # noqa: ANN401 - as above
    if annotation.rules is not None:
        return _rules(name, annotation.rules, decoded(raw))
    if annotation.kind is Path or Path in get_args(annotation.kind):
        return None if raw is None else _path(name, raw)
    if get_origin(annotation.kind) is tuple:
        return _items(name, annotation, decoded(raw))
    if isinstance(raw, str) and str not in (annotation.kind, *get_args(annotation.kind)):
        raw = raw.strip()
    try:
        value = msgspec.convert(raw, Annotated[annotation.kind, annotation.bounds], strict=False)
    except (ValueError, OverflowError):  # msgspec's ValidationError, too
        raise _wrong(name, f"must be {wanted(annotation)}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(name, f"must be {wanted(annotation)}")
    return value


def _rules(name: str, rules: type, raw: object) -> object:
    if isinstance(raw, rules):
        return raw
    if not isinstance(raw, Mapping):
        raise _wrong(name, "must be a section with numbers of its own, or a JSON object")
    for number in raw:
        if number not in annotations_of(rules):
            missing = f"{name}.{number}"
            raise unknown(missing)
    values = {
        number: _read(f"{name}.{number}", annotation, raw[number])
        for number, annotation in annotations_of(rules).items()
        if number in raw
    }
    try:
        return rules(**values)
    except ValueError as error:
        raise _wrong(name, str(error)) from None


def _items(name: str, annotation: Annotation, raw: object) -> tuple[Any, ...]:
    if not isinstance(raw, (list, tuple)):
        raise _wrong(name, f"must be {wanted(annotation)}")
    item = _taken_apart(get_args(annotation.kind)[0])
    return tuple(_read(f"{name}.{place}", item, one) for place, one in enumerate(raw))


def _path(name: str, raw: object) -> Path:
    if not isinstance(raw, (str, Path)) or not str(raw).strip() or "\0" in str(raw):
        raise _wrong(name, "must be the path of a folder")
    try:
        return Path(raw).expanduser().absolute()
    except (RuntimeError, OSError):
        raise _wrong(name, "must be the path of a folder that can be found") from None


def decoded(raw: object) -> object:
    """Return a text decoded from JSON; anything else, and text that is not JSON, as it is."""
    if not isinstance(raw, str):
        return raw
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):  # msgspec's DecodeError is a ValueError
        return raw


def unknown(name: str, nearest: str | None = None) -> SettingsError:
    """Return the error for a setting that does not exist.

    Args:
        name: as it was written.
        nearest: the setting that was probably meant, if any.
    """
    shown = name if name.isascii() and name.isprintable() and len(name) <= 100 else ascii(name)[:99]
    hint = f"did you mean {nearest}?" if nearest else 'the page "Settings" of the docs has them all'
    return SettingsError(f"unknown setting {shown}; {hint}")


def _wrong(name: str, reason: str) -> SettingsError:
    return SettingsError(f"setting {name}: {reason}")


def wanted(annotation: Annotation) -> str:
    """Return the description of a valid value for a message: "a number above 0"."""
    return " ".join(part for part in (_kind(annotation.kind), bounds_of(annotation)) if part)


_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "unset",
}


def _kind(hint: Any) -> str:  # noqa: ANN401 - any annotation
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_kind(part) for part in get_args(hint))
    if get_origin(hint) is tuple:
        return "a list, in the environment a JSON array"
    return _KINDS.get(hint, "a value of another type")


def bounds_of(annotation: Annotation) -> str:
    """Return the bounds of a setting in words; "" when it has none."""
    bounds = annotation.bounds
    parts = []
    if bounds.gt is not None:
        parts.append(f"above {bounds.gt:g}")
    if bounds.ge is not None:
        parts.append(f"from {bounds.ge}")
    if bounds.le is not None:
        parts.append(f"to {bounds.le}")
    if bounds.min_length is not None and bounds.max_length is not None:
        parts.append(f"of {bounds.min_length} to {bounds.max_length} characters")
    if bounds.pattern is not None:
        parts.append(f"of the form {bounds.pattern}")
    return " ".join(parts)
