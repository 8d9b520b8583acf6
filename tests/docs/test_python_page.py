"""The page of Python calls names each call that there is."""

import inspect
import re

import trackrecord
from tests.docs.documentation import text_of

# Types, which a page of calls need not name.
CALLS = [
    name
    for name in trackrecord.__all__
    if not name[0].isupper() and not inspect.iscoroutinefunction(getattr(trackrecord, name))
]
PAGE = text_of("docs/python.md")


def test_the_page_names_each_call():
    """In code font, so that it is found."""
    assert [name for name in CALLS if not re.search(rf"`{name}[`(]", PAGE)] == []


def test_each_name_with_brackets_is_a_call():
    """Nothing is promised that there is not."""
    named = set(re.findall(r"`(\w+)\([^`]*\)`", PAGE)) - {"to_document", "publish"}
    assert named <= {*CALLS}
