"""The rules of all subjects in one object, with no weight or threshold of its own.

The rules of each subject, with weights and thresholds, stand in `learning`. Whoever takes rules
takes all of them: a caller cannot forget some and silently get defaults.
"""

from dataclasses import dataclass, field
from functools import cached_property

from .advice.lessons.rules import LessonRules
from .competences.rules import CompetenceRules
from .criteria.weights import CriteriaRules
from .memories.rules import MemoryRules
from .numbers.decay import DecayRules, HalfLives
from .numbers.speakers import CapRules
from .outcomes.recorded_rules import RecordedRules
from .outcomes.scoring import ScoringRules
from .patterns.maturity import AntiPatternRules, MaturityRules
from .patterns.texts import TextRules
from .strategies.catalogue import Strategy


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of one process, as `settings.rules` gives them.

    Attributes:
        scoring: how outcomes are scored.
        criteria: which criteria get feedback, and how they are weighed.
        decay: how fast evidence ages.
        maturity: which state a pattern is in.
        antipatterns: when a pattern becomes an anti-pattern.
        caps: how much one source counts for where others speak.
        competence: how competence records are made and selected.
        memories: how memories are confirmed, rejected and ranked.
        texts: how patterns are worded.
        lessons: what makes a lesson from tool calls.
        strategies: the user's own strategies.
    """

    scoring: ScoringRules = field(default=ScoringRules())
    criteria: CriteriaRules = field(default=CriteriaRules())
    decay: DecayRules = field(default=DecayRules())
    maturity: MaturityRules = field(default=MaturityRules())
    antipatterns: AntiPatternRules = field(default=AntiPatternRules())
    caps: CapRules = field(default=CapRules())
    competence: CompetenceRules = field(default=CompetenceRules())
    memories: MemoryRules = field(default=MemoryRules())
    texts: TextRules = field(default=TextRules())
    lessons: LessonRules = field(default=LessonRules())
    strategies: tuple[Strategy, ...] = ()

    @property
    def half_lives(self) -> HalfLives:
        """The half-lives of stored sums: their own, else that of all evidence."""
        usual = self.decay.half_life_days
        return HalfLives(
            patterns=self.maturity.half_life_days or usual,
            criteria=self.criteria.half_life_days or usual,
        )

    @cached_property
    def recorded(self) -> RecordedRules:
        """The rules that recorded numbers depend on."""
        return RecordedRules(
            scoring=self.scoring,
            criteria=self.criteria,
            competence=self.competence,
            strategies=self.strategies,
        )
