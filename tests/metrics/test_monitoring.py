"""The board and the alerts: every query names metrics and labels that a real scrape has."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.metrics.monitoring import (
    MONITORING,
    Selector,
    board,
    board_queries,
    groupings,
    rules,
    selectors,
)
from tests.metrics.running import front_door, running
from tests.metrics.scraped import Scrape
from tests.support.no_tls import NO_TLS
from trackrecord.settings.http_settings import HttpSettings
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_door.protocol.listening import listen, reached_at
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

ALERTS = [rule["alert"] for rule in rules()]
QUERIES = [*board_queries(), *(rule["expr"] for rule in rules())]
# Prometheus makes these itself, of what it scrapes and of the alerts.
OF_PROMETHEUS = {"up": {"job", "instance"}, "ALERTS": {"alertname", "alertstate"}}
OF_TARGET = {"job", "instance"}

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed"
)
needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="Prometheus is not installed"
)


def test_what_the_reading_of_queries_finds() -> None:
    """Names and matchers, and neither functions nor keywords nor what stands in strings."""
    query = 'sum by (le) (rate(a_total{x=~"b|c_total",y="{z"}[5m])) > 2 * max(d) and on (e) f'
    assert list(selectors(query)) == [
        Selector("a_total", (("x", "=~", '"b|c_total"'), ("y", "=", '"{z"'))),
        Selector("d", ()),
        Selector("f", ()),
    ]
    assert groupings(query) == {"le", "e"}


@pytest.mark.parametrize("query", QUERIES)
def test_every_metric_of_a_query_exists(scrape: Scrape, query: str) -> None:
    """In a scrape of a real front door, with each label that is asked for and each value."""
    read = list(selectors(query))
    assert read
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


@pytest.mark.parametrize("query", QUERIES)
def test_every_label_that_is_grouped_by_exists(scrape: Scrape, query: str) -> None:
    """On one of the metrics that the query reads."""
    labels = set().union(*(scrape.labels(each.name) for each in selectors(query)))
    assert groupings(query) <= labels | OF_TARGET


def test_a_metric_that_does_not_exist_is_noticed(scrape: Scrape) -> None:
    """The test above can fail."""
    for query in ("trackrecord_nothing", 'trackrecord_workers{project="x"}'):
        with pytest.raises(AssertionError):
            test_every_metric_of_a_query_exists(scrape, query)


def test_the_board_has_a_place_for_every_panel() -> None:
    """Each panel has a title and a number of its own, and none covers another one."""
    panels = board()["panels"]
    assert len({each["id"] for each in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for each in panels:
        assert each["title"]
        place = each["gridPos"]
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, each["title"]
        taken |= cells


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


def test_figures_of_the_alerts_tests_exist(scrape: Scrape) -> None:
    """What the alerts are tested with is what a scrape has."""
    cases = yaml.safe_load((MONITORING / "alerts_test.yml").read_text())["tests"]
    for series in {each["series"] for case in cases for each in case["input_series"]}:
        test_every_metric_of_a_query_exists(scrape, re.sub(r'project="\w+"', 'job=""', series))


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


@needs_prometheus
def test_a_real_prometheus_scrapes_it(
    migrated_home: Path, settings: Settings, redis_server: EmbeddedRedis, tmp_path: Path
) -> None:
    """With the configuration of the repository and a token; it understands every query."""
    token = "a-token-of-this-test"  # noqa: S105 - of this test alone
    guarded = load_settings(home=settings.home, http={"token": token})
    with front_door(guarded) as door:
        config = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
        (job,) = config["scrape_configs"]
        (tmp_path / "token").write_text(token)
        job["authorization"]["credentials_file"] = str(tmp_path / "token")
        job["static_configs"] = [{"targets": [door.base_url.netloc.decode()]}]
        job["scrape_interval"] = "1s"
        config["rule_files"] = [str(MONITORING / "alerts.yml")]
        (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
        with _prometheus(guarded, tmp_path) as prometheus:
            deadline = time.monotonic() + 60
            while not _answer(prometheus, 'up{job="trackrecord"} == 1'):
                assert time.monotonic() < deadline, (settings.home / "test.log").read_text()
                time.sleep(0.1)
            assert _answer(prometheus, 'trackrecord_server_up{server="redis"} == 1')
            for query in QUERIES:
                _answer(prometheus, query.replace("$project", ".*"))
            loaded = prometheus.get("/api/v1/rules").json()["data"]["groups"]
            assert [rule["name"] for group in loaded for rule in group["rules"]] == ALERTS


@contextmanager
def _prometheus(settings: Settings, folder: Path) -> Iterator[httpx.Client]:
    with listen(HttpSettings(port=0)) as free:
        host, port = reached_at(free)
    command = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={host}:{port}",
    ]
    with (
        running(command, settings),
        httpx.Client(base_url=f"http://{host}:{port}", verify=NO_TLS) as client,
    ):
        yield client


def _answer(prometheus: httpx.Client, query: str) -> list[dict[str, Any]]:
    """The answer to a query; nothing while Prometheus starts."""
    try:
        answer = prometheus.get("/api/v1/query", params={"query": query})
    except httpx.ConnectError:
        return []
    if answer.status_code == 503:
        return []
    assert answer.status_code == 200, (query, answer.text)
    result: list[dict[str, Any]] = answer.json()["data"]["result"]
    return result
