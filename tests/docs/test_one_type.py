"""One name and one type for a thing: no two classes share a name, or most of their fields."""

import ast
from collections import Counter
from itertools import combinations

from tests.docs.documentation import PACKAGE_FOLDERS

_FEWEST = 5
_MOST = 0.75

# Why two classes have the same fields, and which.
_REASONS = {
    "what is reported is checked at the edge; what is known of it afterwards is free":
        "Outcome~OutcomeFields ToolCall~ToolCallFields ErrorReport~TaskError Exposure~ExposureBody",
    "people are answered with less, or with more, than what was counted":
        "Command~CommandAnswer Criterion~RankedCriterion "
        "Lesson~LessonAnswer PatternAnswer~RankedPattern WeighingAnswer~WeightedEvaluation "
        "Artifact~OutputRecord Artifact~StoredArtifact OutputRecord~StoredArtifact",
    "who answers must not import the database before it is asked":
        "CriterionFeedbackAnswer~Feedback Example~ExampleAnswer FeedbackAnswer~GivenFeedback "
        "PastTask~StoredTask",
    "one is added to or taken back, the other is what came of it":
        "DecayedTally~TallySum LedgerEntry~LedgerReceipt OpenCall~RunCall",
    "JSON has no tuples as keys": "EpisodeTally~StoredTally",
    "None keeps a value in one, and is the default in the other": "ForkChanges~NewCompetence",
}  # fmt: skip


def test_no_two_classes_repeat_each_other():
    """Three quarters of the fields of the larger one, and five or more."""
    known = {pair for pairs in _REASONS.values() for pair in pairs.split()}
    found = {
        "~".join(sorted((one, other)))
        for (one, its), (other, others) in combinations(_fields(), 2)
        if len(its & others) >= max(_FEWEST, _MOST * max(len(its), len(others)))
    }
    assert found == known, f"new: {sorted(found - known)}, gone: {sorted(known - found)}"


def test_no_two_classes_share_a_name():
    """Of those that other modules may name; what begins with an underscore is its module's own."""
    names = Counter(
        statement.name
        for folder in PACKAGE_FOLDERS
        for path in folder.rglob("*.py")
        for statement in ast.parse(path.read_bytes()).body
        if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


def _fields() -> list[tuple[str, frozenset[str]]]:
    return [
        (node.name, frozenset(names))
        for folder in PACKAGE_FOLDERS
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for names in ([each.target.id for each in node.body if _is_field(each)],)
        if len(names) >= _FEWEST
    ]


def _is_field(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
