"""Every exception that a docstring promises exists."""

import ast
import pydoc
import re
from collections.abc import Collection, Iterator

from tests.docs.documentation import PACKAGE_FOLDERS, ROOT

# The lines of a "Raises" section that begin with a name.
PROMISE = re.compile(r"^ {4}(?P<names>[A-Za-z_.]+(?:, [A-Za-z_.]+)*):(?: |$)", re.MULTILINE)


def promises(docstring: str) -> Iterator[str]:
    """Yield the names under "Raises" of a docstring that is cleaned of its indentation."""
    section = re.search(r"^Raises:\n((?:(?: {4}.*)?\n?)*)", docstring, re.MULTILINE)
    for found in PROMISE.finditer(section[1] if section else ""):
        yield from found["names"].split(", ")


def classes(tree: ast.Module) -> set[str]:
    """The names of the classes that a module defines."""
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def unknown_promises(tree: ast.Module, known: Collection[str]) -> list[str]:
    """The exceptions that docstrings of a module name and that are nowhere defined."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        name
        for node in ast.walk(tree)
        if isinstance(node, documented)
        for name in promises(ast.get_docstring(node) or "")
        if name not in known and pydoc.locate(name) is None
    ]


def test_exceptions_that_are_promised_exist():
    """A reader who catches what a docstring names catches something."""
    trees = {
        path: ast.parse(path.read_bytes())
        for folder in PACKAGE_FOLDERS
        for path in sorted(folder.rglob("*.py"))
    }
    known = set().union(*map(classes, trees.values()))
    wrong = {
        str(path.relative_to(ROOT)): unknown
        for path, tree in trees.items()
        if (unknown := unknown_promises(tree, known))
    }
    assert wrong == {}
