"""The order of the documentation: every page is in it, once."""

import re

from tests.docs.documentation import DOCS, PAGES, prose_of

_LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_every_page_is_listed_once():
    """`make docs` builds what docs/index.md lists; whoever adds a page says where it belongs."""
    listed = [(DOCS / link).resolve() for link in _LINK.findall(prose_of("docs/index.md"))]
    assert sorted(listed) == sorted(page for page in PAGES if page != DOCS / "index.md")
