"""No floor has more lines of code than pyproject.toml allows, and none is allowed much more."""

import ast
import io
import subprocess
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documentation import ROOT

_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
# What may be left over: a number that nobody lowers is no budget.
_LEFT_OVER = 1.01
_FEW = 50
_BUDGET: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "trackrecord"
]["budget"]


def _floor(path: str) -> str:
    """Return the floor of a file: its top folder; in `trackrecord/`, the room below it."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "trackrecord" and len(parts) > 2 else parts[0]


def _lines_of_code(path: Path) -> int:
    source = path.read_text(encoding="utf-8")
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines.difference(*map(_lines_of_docstring, ast.walk(ast.parse(source)))))


def _lines_of_docstring(node: ast.AST) -> range:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        match node.body:
            case [ast.Expr(value=ast.Constant(value=str())) as text, *_]:
                return range(text.lineno, (text.end_lineno or text.lineno) + 1)
    return range(0)


def _files() -> Iterator[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    yield from (name for name in found.stdout.splitlines() if (ROOT / name).exists())


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="which files are the product's, git knows")
def test_no_floor_exceeds_its_budget():
    """Each floor has at most its lines of code, and its budget is at most one percent above."""
    counted: Counter[str] = Counter()
    for name in _files():
        counted[_floor(name)] += _lines_of_code(ROOT / name)
    assert counted.keys() == _BUDGET.keys()
    assert {
        name: f"{counted[name]:,} of {most:,}"
        for name, most in _BUDGET.items()
        if counted[name] > most
    } == {}
    left_over = {
        name: most for name, most in _BUDGET.items() if most > counted[name] * _LEFT_OVER + _FEW
    }
    assert left_over == {}, "lower these numbers in pyproject.toml to what is there"
