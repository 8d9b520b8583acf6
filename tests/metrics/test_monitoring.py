"""The board and the alerts: every query names metrics and labels that a real scrape has."""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from tests.metrics.monitoring import (
    MONITORING,
    board_queries,
    groupings,
    rules,
    selectors,
)
from tests.metrics.scraped import Scrape

ALERTS = [rule["alert"] for rule in rules()]
QUERIES = [*board_queries(), *(rule["expr"] for rule in rules())]
# Prometheus makes these itself, of what it scrapes and of the alerts.
OF_PROMETHEUS = {"up": {"job", "instance"}, "ALERTS": {"alertname", "alertstate"}}
OF_TARGET = {"job", "instance"}

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed"
)


@pytest.mark.parametrize("query", QUERIES)
def test_every_metric_of_a_query_exists(scrape: Scrape, query: str) -> None:
    """In a scrape of a real front door, with each label that is asked for and each value."""
    read = list(selectors(query))
    assert read
    known = set().union(*(scrape.labels(each.name) for each in read))
    assert groupings(query) <= known | OF_TARGET
    for each in read:
        labels = OF_PROMETHEUS.get(each.name) or scrape.labels(each.name) | OF_TARGET
        assert each.name in scrape.names | OF_PROMETHEUS.keys(), each.name
        for label, operator, value in each.matchers:
            assert label in labels, f"{each.name} has no label {label}"
            if label not in OF_TARGET and each.name not in OF_PROMETHEUS:
                _check_value(scrape, label, operator, json.loads(value))


def _check_value(scrape: Scrape, label: str, operator: str, value: str) -> None:
    if value == "$project":  # Grafana's variable
        return
    known = scrape.values_of(label) | {"5xx"}
    for each in value.split("|") if operator == "=~" else [value]:
        assert each in known, f"{label} is never {each}"


def test_every_alert_says_what_to_do() -> None:
    """A severity, a summary and an action."""
    assert len(set(ALERTS)) == len(ALERTS)
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"].keys() == {"summary", "action"}


def test_every_alert_has_a_test() -> None:
    """It fires for figures that it is for."""
    cases = yaml.safe_load((MONITORING / "alerts_test.yml").read_text())["tests"]
    fired = [
        re.findall(r'alertname="(\w+)"', sample["labels"])
        for case in cases
        for each in case["promql_expr_test"]
        for sample in each["exp_samples"]
    ]
    assert sorted(name for names in fired for name in names) == sorted(ALERTS)


@needs_promtool
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", "--syntax-only", "prometheus.yml"),
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml"),
    ],
)
def test_promtool_is_content(arguments: tuple[str, ...]) -> None:
    """With the configuration, with the rules, and with the alerts that fire in their tests."""
    run = subprocess.run(
        ["promtool", *arguments],  # noqa: S607 - wherever it is installed
        cwd=MONITORING,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
