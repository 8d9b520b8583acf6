"""docs/metrics.md, held against a scrape of a real front door."""

import re
from pathlib import Path

from tests.metrics.scraped import Scrape

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.splitlines()
    if line.startswith("| `trackrecord_")
]


def test_every_metric_is_on_the_page(scrape: Scrape) -> None:
    """With its kind and its help text, and none that does not exist."""
    helps = dict(re.findall(r"^# HELP (\S+) (.*)$", scrape.text, re.MULTILINE))
    real = {
        (f"`{name}`", kind, helps[name])
        for name, kind in scrape.kinds.items()
        if name.startswith("trackrecord_")
    }
    documented = {(name, kind, meaning) for name, kind, _, meaning in ROWS}
    assert real == documented


def test_every_label_is_on_the_page(scrape: Scrape) -> None:
    """The labels of each metric, and every value that one has."""
    for name, kind, labels, _ in ROWS:
        sample = name.strip("`") + ("_bucket" if kind == "histogram" else "")
        if sample in scrape.names:
            assert set(re.findall(r"`(\w+)`", labels)) == scrape.labels(sample) - {"le"}, name
    shown = set(re.findall(r"`([\w-]+)`", PAGE))
    for label in ("verdict", "result", "surface", "server", "ending"):
        assert scrape.values_of(label) <= shown, label
    refused = [each for each in scrape.samples if each.name == "trackrecord_entries_refused_total"]
    assert {each.labels["reason"] for each in refused} <= shown


def test_each_project_adds_as_many_series_as_the_page_says(scrape: Scrape) -> None:
    """Three verdicts, and one series of each other metric of a project."""
    of_one = [each for each in scrape.samples if each.labels.get("project") == "default"]
    (said,) = re.findall(r"Each project adds (\w+) series", PAGE)
    assert ("five", "six", "seven", "eight", "nine").index(said) + 5 == len(of_one)
