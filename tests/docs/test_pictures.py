"""Pictures of the pages: there, small, and described for those who cannot see them."""

import re

from tests.docs.documentation import DOCS, PAGE_NAMES, ROOT, prose_of

_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
# Every copy of the repository has it.
_LARGEST_BYTES = 120_000


def test_pictures_are_small_and_described():
    """`python docs/picture.py` takes them; none lies in the repository that no page shows."""
    shown = set()
    for name in PAGE_NAMES:
        for words, link in _PICTURE.findall(prose_of(name)):
            picture = ((ROOT / name).parent / link).resolve()
            assert picture.stat().st_size <= _LARGEST_BYTES, link
            assert len(words.split()) >= 5, f"{name}: {link} is not described"
            shown.add(picture)
    assert shown == {path for path in DOCS.iterdir() if path.suffix in (".png", ".svg", ".jpg")}
    assert shown
