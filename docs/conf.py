"""The site that Sphinx makes of the pages as they are: `make docs`, and `make check`.

Its source is the whole repository, so that links between the pages work here as they do on GitHub.
What stands beside the text is what docs/index.md lists, in its order and under its headings.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

import trackrecord

_ROOT = Path(__file__).parents[1]
_PAGES = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "examples/README")
_FOLDERS = ("docs", "examples")
_FIRST = "docs/index"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([\w./-]+)\.md\)")
_FOLDER_LINK = re.compile(r"(?<=\]\()[\w./-]+(?=\))")
_REPOSITORY = "https://github.com/trackrecord/trackrecord/tree/main"

project = "trackrecord"
author = "The trackrecord authors"
version = release = trackrecord.__version__
extensions = ["myst_parser"]
root_doc = _FIRST
include_patterns = ["docs/*.md", *(f"{page}.md" for page in _PAGES)]
# Not looked through for pages.
exclude_patterns = [
    each.name for each in _ROOT.iterdir() if each.is_dir() and each.name not in _FOLDERS
]
# Headings get the anchors that they have on GitHub.
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"trackrecord {version}"
html_copy_source = False
html_show_copyright = False
# Nothing on the site is fetched from elsewhere, nor from Pygments' list of lexers.
pygments_style = "default"
pygments_dark_style = "native"


def contents(index: str) -> str:
    """Return the tables of contents of the pages that the index links to, one for each heading."""
    _, *rest = _HEADING.split(index)
    tables = zip(rest[::2], rest[1::2], strict=True)
    return "\n\n".join(_table(heading, _LINK.findall(text)) for heading, text in tables)


def _table(heading: str, links: list[str]) -> str:
    documents = [f"/{(_ROOT / 'docs' / link).resolve().relative_to(_ROOT)}" for link in links]
    return "\n".join(
        ["```{toctree}", ":hidden:", f":caption: {heading}", "", *dict.fromkeys(documents), "```"]
    )


def _adapt(_app: Sphinx, document: str, source: list[str]) -> None:
    folder = (_ROOT / document).parent
    source[0] = _FOLDER_LINK.sub(lambda link: _to_folder(folder, link[0]), source[0])
    if document == _FIRST:
        source[0] += f"\n\n{contents(source[0])}\n"


def _to_folder(folder: Path, link: str) -> str:
    """Return a link to a folder of the repository as one that works on the site, too."""
    target = (folder / link).resolve()
    return f"{_REPOSITORY}/{target.relative_to(_ROOT)}" if target.is_dir() else link


def _lead_to_first(app: Sphinx, error: Exception | None) -> None:
    """Redirect the site's root to its first page."""
    if error is None:
        page = f'<!doctype html><meta http-equiv="refresh" content="0; url={_FIRST}.html">\n'
        (app.outdir / "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Take part in the building of the site."""
    app.connect("source-read", _adapt)
    app.connect("build-finished", _lead_to_first)
