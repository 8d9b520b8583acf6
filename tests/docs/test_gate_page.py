"""gate-in-ci.md is as the code has it."""

import json
import shlex

import yaml

from tests.docs.documentation import blocks, tables, text_of
from trackrecord.learning.outcomes.gate import CHECKS, BenchmarkRules, GateCheck
from trackrecord.learning.outcomes.rates import RATES
from trackrecord_cli.main import cli

PAGE = "docs/gate-in-ci.md"


def _rows(first_cell):
    (table,) = [table for table in tables(text_of(PAGE)) if table[0][0] == first_cell]
    return table[1:]


def test_rates():
    """The table has every rate, in the order of a snapshot."""
    assert [row[0].strip("`") for row in _rows("rate")] == list(RATES)


def test_thresholds():
    """The table has every check with its default and its setting."""
    rules = BenchmarkRules()
    rows = _rows("check")
    assert [row[0].strip("`") for row in rows] == list(CHECKS)
    for name, passes, setting in rows:
        default = getattr(rules, f"{name.strip('`')}_max")
        assert passes == f"up to and including {default:g}"
        assert setting == f"`TRACKRECORD_BENCHMARK__{name.strip('`').upper()}_MAX`"


def test_the_document_shown():
    """Its checks have the fields of a check."""
    (shown,) = [json.loads(block.text) for block in blocks("json") if block.page == PAGE]
    assert all(set(each) == set(GateCheck.__dataclass_fields__) for each in shown["checks"])


def test_the_workflow():
    """It is YAML, and its commands are understood."""
    (workflow,) = [yaml.safe_load(block.text) for block in blocks("yaml") if block.page == PAGE]
    steps = [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "run" in step]
    commands = [shlex.split(step.split("|")[0]) for step in steps if "trackrecord " in step]
    assert [words[2] for words in commands] == ["run", "report", "gate"]
    for words in commands:
        words = ["5" if "$(" in word else word for word in words]
        group = cli.get_command(None, words[1])
        command = group.get_command(None, words[2])
        command.make_context(words[2], words[3:])
