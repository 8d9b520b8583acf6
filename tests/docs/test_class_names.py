"""One name, one meaning: whoever reads a class's name anywhere knows which class it is."""

import ast
from collections import Counter

from tests.docs.documentation import PACKAGE_FOLDERS


def test_no_two_classes_share_a_name():
    """Of those that other modules may name; what begins with an underscore stays in its module."""
    names = Counter(
        statement.name
        for folder in PACKAGE_FOLDERS
        for path in folder.rglob("*.py")
        for statement in ast.parse(path.read_bytes()).body
        if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []
