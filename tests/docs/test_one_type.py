"""One type for a thing: no two classes repeat most of each other's fields without a reason."""

import ast
from itertools import combinations

from tests.docs.documentation import PACKAGE_FOLDERS, ROOT

_FEWEST = 5
_MOST = 0.75

# Why two classes have the same fields, and which.
_REASONS = {
    "what is reported is checked at the edge; what is known of it afterwards is free": """
        Outcome~OutcomeFields ToolCall~ToolCallFields Outcome~OutcomeArguments ErrorReport~TaskError
        ErrorReport~_Kept ErrorBody~_Kept TaskError~_Kept Exposure~ExposureBody HintBody~TrialHint
        Hint~HintBody Fact~ToolOutput HookQuestion~_Posted
    """,
    "the answer is a table of numbers, which are counted, decayed and worded elsewhere": """
        Command~CommandAnswer Competence~CompetenceAnswer Criterion~CriterionStanding
        Criterion~RankedCriterion DecayedTally~EstimateAnswer EstimateAnswer~TallySum
        EstimateAnswer~KindOfTask Lesson~LessonAnswer PatternAnswer~RankedPattern
        PatternChange~PatternChangeAnswer PatternChangeAnswer~SpeakerCountsAnswer
        PatternChangeAnswer~VerdictCounts SpeakerCountsAnswer~VerdictCounts
        RecommendedProcedure~Voted WeighingAnswer~WeightedEvaluation Flow~StatusAnswer
        Project~StatusAnswer LessonDecisionAnswer~PatternDecision Artifact~StoredArtifact
        PatternChangeAnswer~RecentTransition
    """,
    "who answers must not import the database before it is asked": """
        CriterionFeedbackAnswer~Feedback Example~ExampleAnswer FeedbackAnswer~GivenFeedback
        Memory~StoredMemory PastTask~StoredTask Exposure~HandedOut Artifact~OutputRecord
        OutputRecord~StoredArtifact Example~PastTask ExampleAnswer~PastTask
        ExampleAnswer~StoredTask Example~StoredTask Amendment~RunAnswer
    """,
    "one is added to, the other is what came of it": """
        AgentRun~Turn DecayedTally~TallySum KnownLine~_Line OpenCall~RunCall
    """,
    "they are stored in another form, or in forms that older versions wrote": """
        EpisodeTally~StoredTally EpisodeTally~FactLimits FactLimits~StoredTally
        Expected~ExpectedInKind RunDigest~_Beginning RunDigest~_UpToSpeaker
        RankedFailure~RankedPattern RankedCompetence~RankedFailure
    """,
    "an outcome that was scored holds what else is kept of it": """
        Example~ScoredOutcome ExampleAnswer~ScoredOutcome PastTask~ScoredOutcome
        ScoredOutcome~StoredTask
    """,
    "they count other things by the same names": """
        Comparison~HintComparison Current~Replaced SpeakerSums~VerdictSums
    """,
    "some of the settings, for those who need no others": "DaemonSettings~Rules",
    "None keeps a value in one, and is the default in the other": "ForkChanges~NewCompetence",
}


def test_no_two_classes_repeat_each_other():
    """Three quarters of the fields of the smaller one, where it has five or more."""
    known = {pair for pairs in _REASONS.values() for pair in pairs.split()}
    found = {
        "~".join(sorted((one, other)))
        for (one, its), (other, others) in combinations(_fields(), 2)
        if len(its & others) >= max(_FEWEST, _MOST * min(len(its), len(others)))
    }
    assert found == known, f"new: {sorted(found - known)}, gone: {sorted(known - found)}"


def _fields() -> list[tuple[str, frozenset[str]]]:
    return [
        (node.name, frozenset(names))
        for folder in PACKAGE_FOLDERS
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(ROOT)))
        if isinstance(node, ast.ClassDef)
        for names in ([each.target.id for each in node.body if _is_field(each)],)
        if len(names) >= _FEWEST
    ]


def _is_field(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
