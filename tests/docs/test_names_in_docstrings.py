"""What docstrings name exists: names of today stand in backticks, examples in quotation marks."""

import re
from itertools import pairwise

import click

import trackrecord
from tests.docs.documentation import PACKAGE_FOLDERS, ROOT, text_of
from trackrecord_cli.main import cli

_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"({_WORD}(?:\.{_WORD})*)(?:\(.*\))?")
_PATH = re.compile(r"\w[\w.-]*(?:/[\w.-]+)+")
_SETTING = re.compile(r"TRACKRECORD_\w*[A-Z]")
_COMMAND = re.compile(r"trackrecord((?: [a-z]+)+)")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_NOT_CODE = re.compile(rf"{_DOCSTRING.pattern}|(?:^|\s)#[^\n]*", re.DOTALL)
_IMPORT = re.compile(r"^\s*from (\S+) import (\([^)]*\)|.*)", re.MULTILINE)
_CLASS = re.compile(r"^class (\w+).*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def test_what_docstrings_name_exists():
    """Names, files, settings and commands; what else is in backticks is not looked at.

    A name exists if it stands anywhere in code. Of two with a dot between them the second one
    stands in the file or the class that the first one names, or both stand so in code.
    """
    files = {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for folder in PACKAGE_FOLDERS
        for path in sorted(folder.rglob("*.py"))
    }
    known = _Known()
    for path, source in files.items():
        known.add(path.as_posix().removesuffix(path.suffix), _NOT_CODE.sub(" ", source))
    gone = [
        f"{path}:{source.count(chr(10), 0, docstring.start()) + 1}: `{text}`"
        for path, source in files.items()
        for docstring in _DOCSTRING.finditer(source)
        for given in re.findall(r"`([^`]+)`", docstring[1])
        if not known.holds(text := " ".join(given.split()))
    ]
    assert not gone, "\n".join(gone)


class _Known:
    """The names that there are."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._pairs = {("trackrecord", name) for name in trackrecord.__all__}
        folders = (*PACKAGE_FOLDERS, *(ROOT / name for name in ("docs", "deploy", "tests")))
        found = (path for folder in folders for path in folder.rglob("*"))
        self._paths = [f"/{path.relative_to(ROOT).as_posix()}" for path in found]
        self._settings = text_of("docs/settings.md")

    def add(self, path: str, code: str) -> None:
        """Take the names of a file."""
        places = path.removesuffix("/__init__").split("/")
        names = set(re.findall(_WORD, code))
        self._names |= {*names, *places}
        self._pairs |= {*pairwise(places), *((places[-1], name) for name in {*names, "py"})}
        for chain in re.findall(r"\w+(?:\.\w+)+", code.replace("()", "")):
            self._pairs |= set(pairwise(chain.split(".")))
        for home, imported in _IMPORT.findall(code):
            last = home.split(".")[-1]
            self._pairs |= {(last, name) for name in re.findall(_WORD, imported)}
        for block in _CLASS.finditer(code):
            self._pairs |= {(block[1], name) for name in re.findall(_WORD, block[0])}

    def holds(self, text: str) -> bool:
        """Return whether what backticks hold exists, as far as it is one of the four."""
        if _SETTING.fullmatch(text):
            return f"`{text}`" in self._settings
        if any(path.endswith((f"/{text}", f"/{text}.py")) for path in self._paths):
            return True
        if name := _NAME.fullmatch(text):
            words = name[1].split(".")
            return self._names.issuperset(words) and self._pairs.issuperset(pairwise(words))
        if _PATH.fullmatch(text):
            return False
        return _is_command(command[1].split()) if (command := _COMMAND.match(text)) else True


def _is_command(words: list[str]) -> bool:
    found: click.Command | None = cli
    for word in words:
        if not isinstance(found, click.Group):
            break
        found = found.get_command(click.Context(found), word)
    return found is not None
