"""criteria, patterns promote, deprecate and reset, explain: what people decide and ask."""

import asyncio

import pytest

import trackrecord as package


def test_promote_deprecate_reset(learnt, trackrecord, project):
    """With exit statuses, in the history, and in what the next prompt gets at once."""
    learnt({"task_id": "t", "success": True, "patterns": ["one"]})
    mine = ("--project", project)
    ran = trackrecord("patterns", "promote", "one", *mine, "--by", "ada", "--json")
    assert (ran.status, ran.json["before"], ran.json["after"]) == (0, "candidate", "proven")
    (ranked,) = trackrecord("rankings", *mine, "--json").json["patterns"]
    assert (ranked["state"], ranked["reason"]) == ("proven", "proven by hand, by ada")
    explained = trackrecord("explain", "one", *mine, "--json").json
    assert "proven by hand: promoted by ada" in explained["because"][0]
    assert "candidate" in explained["because"][1]
    assert "a reset would make it candidate" in explained["to_change"][0]
    deprecated = ("patterns", "deprecate", "anti-one", *mine, "--reason", "it\nfailed elsewhere")
    assert trackrecord(*deprecated).status == 0
    shown = ("patterns", "list", *mine, "--state", "deprecated", "--format", "prompt")
    assert trackrecord(*shown).out == (
        "## Deprecated Patterns\n\n"
        '- an agent\'s strategy "one" [DEPRECATED - it failed elsewhere, avoid using]\n'
    )
    assert trackrecord("rankings", *mine, "--json").json["patterns"] == []
    refused = trackrecord("patterns", "promote", "one", *mine)
    assert (refused.status, refused.out, len(refused.err.splitlines())) == (1, "", 1)
    assert "reset" in refused.err
    assert trackrecord("patterns", "reset", "one", *mine).out == "one: deprecated -> candidate\n"
    again = trackrecord("patterns", "reset", "one", *mine, "--json")
    assert (again.status, again.json["changed"]) == (0, False)
    shown = trackrecord("patterns", "show", "one", *mine, "--json").json
    assert [each["decision"] for each in shown["history"]] == [
        None, "promote", "deprecate", "reset",
    ]  # fmt: skip
    assert shown["history"][2]["reason"] == "it\nfailed elsewhere"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("promote", "no-such-pattern"), 1),
        (("reset", "no-such-pattern"), 1),
        (("deprecate", "no-such-pattern", "--reason", "x"), 1),
        (("deprecate", "one"), 2),
        (("deprecate", "one", "--reason", "  "), 2),
        (("deprecate", "one", "--reason", "x" * 1001), 2),
        (("promote", "one", "--by", "x" * 129), 2),
    ],
)
def test_mistakes_change_nothing(learnt, trackrecord, project, arguments, status):
    """One line, no traceback, and the pattern stands where it stood."""
    learnt({"task_id": "t", "success": True, "patterns": ["one"]})
    ran = trackrecord("patterns", *arguments, "--project", project)
    assert (ran.status, ran.out) == (status, "")
    assert "Traceback" not in ran.err
    shown = trackrecord("patterns", "show", "one", "--project", project, "--json").json
    assert (shown["state"], len(shown["history"])) == ("candidate", 1)


def test_criteria_are_listed_shown_and_explained(learnt, trackrecord, project):
    """The fields of the contract, one document, and why the weight is low."""
    learnt(
        *({"task_id": f"t{n}", "success": True, "criteria": {"kind": "harmful"}} for n in range(4)),
        {"task_id": "last", "success": True, "criteria": {"readable": "helpful"}},
    )
    mine = ("--project", project, "--json")
    listed = {each["criterion"]: each for each in trackrecord("criteria", "list", *mine).json}
    assert set(listed) == {"kind", "readable"}  # what nobody named has no number
    kind = listed["kind"]
    assert (kind["weight"], kind["formula_weight"], kind["deprecated"]) == (0.0, 0.1, True)
    assert (kind["helpful_count"], kind["harmful_count"], kind["half_life_days"]) == (0, 4, 90.0)
    assert kind["evidence"] == pytest.approx(4.0, abs=0.01)
    assert kind["last_validated"].endswith("Z")
    assert (listed["readable"]["weight"], listed["readable"]["helpful_count"]) == (1.0, 1)
    shown = trackrecord("criteria", "show", "readable", *mine).json
    assert [each["task_id"] for each in shown["feedback"]] == ["last"]
    explained = trackrecord("explain", "kind", *mine).json
    assert "raised to the floor of 0.1" in explained["because"][0]
    assert "4 of 4 harmful" in explained["because"][1]
    assert "10 more helpful reports now would end its deprecation" in explained["to_change"][0]
    assert trackrecord("explain", "criterion:kind", *mine).json["because"] == explained["because"]
    assert trackrecord("criteria", "show", "nothing", *mine).status == 1
    table = trackrecord("criteria", "list", "--project", project).out.splitlines()
    assert len(table) == 3
    assert len({line.count("\t") for line in table}) == 1


def test_how_much_is_shown_is_a_setting(learnt, trackrecord, project, monkeypatch):
    """Examples, feedback, what counts as limited data, and how long a content may be."""
    name = "Plan " * 10
    learnt(
        *(
            {
                "task_id": f"t{n}",
                "success": True,
                "patterns": [name],
                "criteria": {"readable": "helpful"},
            }
            for n in range(3)
        ),
    )
    mine = ("--project", project)
    (listed,) = trackrecord("patterns", "list", *mine, "--json").json

    def shown():
        pattern = trackrecord("patterns", "show", listed["id"], *mine, "--json").json
        criterion = trackrecord("criteria", "show", "readable", *mine, "--json").json
        (text, *_) = trackrecord("patterns", "list", *mine, "--format", "prompt").out.splitlines()[
            -1:
        ]
        return len(pattern["examples"]), len(criterion["feedback"]), text

    full = f'- an agent\'s strategy "{name.strip()}"'
    assert shown() == (3, 3, f"{full} [ESTABLISHED - 3 of 3 runs succeeded]")


def test_patterns_as_a_text_for_a_prompt(learnt, trackrecord, project):
    """Deprecated ones are left out of the recommendations, and stand there when asked for."""
    learnt(
        *({"task_id": f"a{n}", "success": True, "strategy": "按组件拆分"} for n in range(60)),
        *({"task_id": f"b{n}", "success": True, "patterns": ["half # half"]} for n in range(6)),
        *({"task_id": f"c{n}", "success": False, "error_count": 9, "retry_count": 9,
           "patterns": ["half # half"]} for n in range(4)),
        *({"task_id": f"d{n}", "success": False, "error_count": 9, "retry_count": 9,
           "patterns": ["Big bang"]} for n in range(3)),
    )  # fmt: skip
    prompt = ("patterns", "list", "--project", project, "--format", "prompt")
    heading = (
        "## Anti-Patterns to Avoid\n\n"
        "Based on past failures, avoid these strategies:\n\n"
        '- AVOID: an agent\'s strategy "Big bang". Failed 3/3 times (100% failure rate)\n\n'
    )
    assert trackrecord(*prompt).out == heading + (
        "## Proven Patterns\n\n- Split by component [PROVEN - 60 of 60 runs succeeded]\n"
    )
    assert trackrecord(*prompt, "--state", "deprecated").out == heading + (
        "## Deprecated Patterns\n\n"
        '- an agent\'s strategy "half half" [DEPRECATED - 4 of 10 runs failed, avoid using]\n'
    )
    assert trackrecord(*prompt, "--state", "proven", "--lang", "zh").out == (
        "## 已验证的模式\n\n- 按组件拆分 [已验证 - 60次运行中60次成功]\n"
    )


def test_patterns_are_tagged(learnt, trackrecord, project):
    """From Python; listed by tag, with their tags in JSON."""
    learnt(
        {"task_id": "t", "success": True, "patterns": ["one"]},
        {"task_id": "u", "success": True, "patterns": ["two"]},
    )
    mine = ("--project", project)
    for added in (("slow", "ui"), ()):
        tagged = package.tag_pattern("one", add=["UI", "slow"], project=project)
        assert (tagged.tags, tagged.added, tagged.removed) == (("slow", "ui"), added, ())
    by_tag = ("patterns", "list", *mine, "--tag", "Ui", "--json")
    assert [(each["id"], each["tags"]) for each in trackrecord(*by_tag).json] == [
        ("one", ["named", "slow", "ui"])
    ]
    shown = trackrecord("patterns", "show", "one", *mine, "--json").json
    assert shown["tags"] == ["named", "slow", "ui"]
    found = package.tag_pattern("two", add="ui", project=project)
    assert (found.id, found.tags, found.added) == ("two", ("ui",), ("ui",))
    assert asyncio.run(package.atag_pattern("one", remove=["ui"], project=project)).tags == (
        "slow",
    )
    assert [each["id"] for each in trackrecord(*by_tag).json] == ["two"]


@pytest.mark.usefixtures("asking_agent")
def test_lists_and_rankings_answer_in_chinese(learnt, trackrecord, project):
    """The objects, not only the prompt; names of agents' own patterns stay as they were written."""
    learnt(
        *({"task_id": f"a{n}", "success": True, "strategy": "Split by component"}
          for n in range(5)),
        *({"task_id": f"d{n}", "success": False, "error_count": 9, "retry_count": 9,
           "patterns": ["Big bang"]} for n in range(3)),
    )  # fmt: skip
    mine = ("--project", project, "--lang", "zh", "--json")
    listed = {each["id"]: each for each in trackrecord("patterns", "list", *mine).json}
    assert listed["split-by-component"]["content"] == "按组件拆分"
    assert (
        listed["anti-big-bang"]["content"] == "避免:智能体的策略“Big bang”。失败3/3次(100%失败率)"
    )
    assert listed["anti-big-bang"]["reason"] == "3个中3个失败(100%)"
    found = trackrecord("rankings", *mine, "--budget", 999).json
    assert [each["content"] for each in found["anti_patterns"]] == [
        listed["anti-big-bang"]["content"]
    ]
    answer = package.rankings(project=project, lang="zh", budget=999)
    assert [each.reason for each in answer.anti_patterns] == ["3个中3个失败(100%)"]
    assert [each.label for each in answer.anti_patterns] == ["避免"]
