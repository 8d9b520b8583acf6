"""Links between the pages lead somewhere."""

import re

import pytest

from tests.docs.documentation import DOCS, PAGE_NAMES, ROOT, prose_of, text_of

_LINK = re.compile(r"\]\(([^)\s]+)\)")


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_a_page_is_finished_and_its_links_resolve(name):
    """A link to a file names one that is there, and a heading in it; no path is a developer's."""
    assert not re.search(r"/(?:home|root|Users)/\w|TODO|FIXME|XXX|@[A-Z]{3,}@", text_of(name))
    for link in _LINK.findall(prose_of(name)):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        assert target.exists(), f"{name} links to {link}"
        assert target.is_relative_to(ROOT)
        if anchor:
            assert anchor in _anchors(target.read_text(encoding="utf-8")), f"{name}: {link}"


def test_every_page_is_found_from_the_readme():
    """Whoever starts at the README reaches every page."""
    seen: set[str] = set()
    waiting = ["README.md"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for link in _LINK.findall(prose_of(name)):
            target = ((ROOT / name).parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists():
                waiting.append(target.relative_to(ROOT).as_posix())
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= seen
