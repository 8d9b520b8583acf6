"""patterns, competences, rankings, explain, status: what is answered, and of which project."""


def tool_runs(count):
    graph = [{"tool": "go_build", "args": {"dir": "x"}}, {"tool": "go_test"}]
    trigger = {"signal": "build is red"}
    return [
        {"task_id": f"t{n}", "success": True, "tool_graph": graph, "trigger": trigger}
        for n in range(count)
    ]


def test_projects_never_see_each_other(learnt, trackrecord, project):
    """A project that does not exist is said not to; nothing of another one is answered."""
    learnt(*tool_runs(3), {"task_id": "p", "success": True, "patterns": ["secret plan"]})
    trackrecord("consolidate", "--project", project)
    other = ("--project", project + "-other", "--json")
    for ask in (
        ("patterns", "list"), ("patterns", "show", "secret-plan"), ("explain", "secret-plan"),
        ("criteria", "list"), ("competences", "list"),
        ("competences", "select"), ("memories", "list"), ("memories", "recall", "plan"),
        ("rankings",),
        ("artifacts", "list"), ("status",), ("benchmark", "run"), ("benchmark", "report"),
        ("consolidate",), ("rebuild",), ("patterns", "promote", "secret-plan"),
        ("artifacts", "get", "0" * 64), ("artifacts", "get", "x"),
        ("runs", "list"), ("runs", "show", "p"), ("lessons", "list"), ("effect",),
        ("amend", "p", "--success", "--reason", "x"),
    ):  # fmt: skip
        ran = trackrecord(*ask, *other)
        assert (ran.status, ran.json["error"]) == (1, "UnknownProject"), ask
        assert ran.json["nearest"] == project
        assert f"project '{project}-other' does not exist; did you mean '{project}'?" in ran.err
        assert len(ran.err.splitlines()) == 1
    trackrecord("memories", "add", "x", *other[:2])
    assert trackrecord("patterns", "list", *other).json == []
    assert trackrecord("rankings", *other).json["patterns"] == []
    assert trackrecord("patterns", "show", "secret-plan", *other).status == 1
