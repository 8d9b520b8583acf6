"""The choice of `competences select --by seed`, the baseline of recommendations."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from math import fsum

from ...competences.phrases import phrases_of
from ...competences.recipe import typical_order
from ...competences.rules import CompetenceRules
from ...competences.selection import UNKNOWN, selection_score
from ...text.words import similarity
from ..runs import Run


def choose_by_seed(runs: Iterable[Run], rules: CompetenceRules, task: str) -> frozenset[str] | None:
    """Return the tools of the record that `--by seed` selects; None without a record.

    Only how well the words fit and the raw success rate tell records apart: recorded runs are
    equally recent.

    Args:
        runs: what the records are made from.
        rules: from how many successes on a procedure has a record.
        task: the text of the task at hand.
    """
    orders: defaultdict[frozenset[str], list[Run]] = defaultdict(list)
    for run in runs:
        if procedure := run.order:
            orders[frozenset(procedure)].append(run)
    scores = {
        tools: _score(found, task)
        for tools, found in orders.items()
        if sum(run.success for run in found) >= rules.min_successes
    }
    return min(scores, key=lambda tools: (-scores[tools], sorted(tools)), default=None)


def _score(runs: list[Run], task: str) -> float:
    order = typical_order(Counter(run.order for run in runs if run.success))
    signals = {run.trigger for run in runs if run.trigger}
    fit = similarity(task, phrases_of(signals, order))
    rate = fsum(run.success for run in runs) / len(runs)
    return selection_score(applicability=UNKNOWN if fit is None else fit, success=rate, recency=1.0)
