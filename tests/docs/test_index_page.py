"""The way in: a short README, a short page on what to believe, and an index of every page."""

import re

from tests.docs.documentation import DOCS, PAGES, prose_of, text_of

_LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_every_page_is_listed_once():
    """`make docs` builds what docs/index.md lists; whoever adds a page says where it belongs."""
    listed = [(DOCS / link).resolve() for link in _LINK.findall(prose_of("docs/index.md"))]
    assert sorted(listed) == sorted(page for page in PAGES if page != DOCS / "index.md")


def test_the_first_pages_are_short():
    """Whoever has five minutes reads the README, and then what to believe."""
    assert len(text_of("README.md").splitlines()) <= 150
    assert len(text_of("docs/what-it-tells-you.md").split()) <= 1000
