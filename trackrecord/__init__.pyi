# Made by `python -m tests.support.public_stub`.
from trackrecord.artifacts.client import artifact as artifact
from trackrecord.artifacts.client import summarise as summarise
from trackrecord.artifacts.pages import Page as Page
from trackrecord.artifacts.wrapping import summarised as summarised
from trackrecord.inflight.classification import classify as classify
from trackrecord.inflight.classification import classify_failure as classify_failure
from trackrecord.process.async_calls import awaited
from trackrecord.prompt.candidates.candidate import Candidate as Candidate
from trackrecord.prompt.candidates.rank import rank as rank
from trackrecord.prompt.candidates.select import select as select
from trackrecord.resources.experience.commands import dismiss_command as dismiss_command
from trackrecord.resources.experience.commands import list_commands as list_commands
from trackrecord.resources.experience.commands import restore_command as restore_command
from trackrecord.resources.experience.commands import show_command as show_command
from trackrecord.resources.experience.competences import add_competence as add_competence
from trackrecord.resources.experience.competences import list_competences as list_competences
from trackrecord.resources.experience.competences import select_competences as select_competences
from trackrecord.resources.experience.competences import show_competence as show_competence
from trackrecord.resources.experience.criteria import list_criteria as list_criteria
from trackrecord.resources.experience.criteria import show_criterion as show_criterion
from trackrecord.resources.experience.criteria import weigh as weigh
from trackrecord.resources.experience.lessons import dismiss_lesson as dismiss_lesson
from trackrecord.resources.experience.lessons import list_lessons as list_lessons
from trackrecord.resources.experience.lessons import restore_lesson as restore_lesson
from trackrecord.resources.experience.lessons import show_lesson as show_lesson
from trackrecord.resources.experience.memories import add_memory as add_memory
from trackrecord.resources.experience.memories import confirm_memory as confirm_memory
from trackrecord.resources.experience.memories import forget_memory as forget_memory
from trackrecord.resources.experience.memories import list_memories as list_memories
from trackrecord.resources.experience.memories import recall as recall
from trackrecord.resources.experience.memories import reject_memory as reject_memory
from trackrecord.resources.experience.memories import show_memory as show_memory
from trackrecord.resources.experience.memories import similar_tasks as similar_tasks
from trackrecord.resources.experience.patterns import deprecate_pattern as deprecate_pattern
from trackrecord.resources.experience.patterns import list_patterns as list_patterns
from trackrecord.resources.experience.patterns import promote_pattern as promote_pattern
from trackrecord.resources.experience.patterns import reset_pattern as reset_pattern
from trackrecord.resources.experience.patterns import show_pattern as show_pattern
from trackrecord.resources.experience.patterns import tag_pattern as tag_pattern
from trackrecord.resources.figures.benchmark import benchmark_gate as benchmark_gate
from trackrecord.resources.figures.benchmark import benchmark_run as benchmark_run
from trackrecord.resources.figures.benchmark import benchmark_runs as benchmark_runs
from trackrecord.resources.figures.effect import effect as effect
from trackrecord.resources.figures.explanations import explain as explain
from trackrecord.resources.figures.explanations import explain_procedure as explain_procedure
from trackrecord.resources.figures.explanations import explain_run as explain_run
from trackrecord.resources.operation.dead_letters import (
    discard_dead_letters as discard_dead_letters,
)
from trackrecord.resources.operation.dead_letters import list_dead_letters as list_dead_letters
from trackrecord.resources.operation.dead_letters import replay_dead_letters as replay_dead_letters
from trackrecord.resources.operation.news import list_news as list_news
from trackrecord.resources.operation.projects import list_projects as list_projects
from trackrecord.resources.reports.artifacts import list_artifacts as list_artifacts
from trackrecord.resources.reports.feedback import give_feedback as give_feedback
from trackrecord.resources.reports.feedback import list_feedback as list_feedback
from trackrecord.resources.reports.kinds import list_kinds as list_kinds
from trackrecord.resources.reports.runs import list_runs as list_runs
from trackrecord.resources.reports.runs import show_run as show_run
from trackrecord.resources.reports.strategies import strategies as strategies
from trackrecord_capture.forgetting.call import aforget as aforget
from trackrecord_capture.forgetting.call import forget as forget
from trackrecord_producers.attempts.attempt import Attempt as Attempt
from trackrecord_producers.attempts.attempt import attempt as attempt
from trackrecord_producers.attempts.attempt import current_attempt as current_attempt
from trackrecord_producers.attempts.errors_in_flight import dropped_errors as dropped_errors
from trackrecord_producers.attempts.errors_in_flight import error_context as error_context
from trackrecord_producers.attempts.errors_in_flight import error_stats as error_stats
from trackrecord_producers.attempts.errors_in_flight import list_errors as list_errors
from trackrecord_producers.attempts.errors_in_flight import record_error as record_error
from trackrecord_producers.attempts.errors_in_flight import resolve_error as resolve_error
from trackrecord_producers.bodies.outcome_fields import AttemptFields as AttemptFields
from trackrecord_producers.bodies.outcome_fields import CostFields as CostFields
from trackrecord_producers.bodies.outcome_fields import OutcomeFields as OutcomeFields
from trackrecord_producers.bodies.outcome_fields import ProcessFields as ProcessFields
from trackrecord_producers.bodies.outcome_fields import ToolCallFields as ToolCallFields
from trackrecord_producers.bodies.outcome_fields import TriggerFields as TriggerFields
from trackrecord_producers.delivery.stats import Stats as Stats
from trackrecord_producers.prompting.context_call import context as context
from trackrecord_producers.prompting.failure_call import after_failure as after_failure
from trackrecord_producers.prompting.rankings_call import rankings as rankings
from trackrecord_producers.publishing.feedback_call import feedback as feedback
from trackrecord_producers.publishing.memory_call import remember as remember
from trackrecord_producers.publishing.publish import dropped as dropped
from trackrecord_producers.publishing.publish import flush as flush
from trackrecord_producers.publishing.publish import publish as publish
from trackrecord_producers.publishing.publish import spool as spool
from trackrecord_producers.publishing.publish import stats as stats

__version__: str

aadd_competence = awaited(add_competence)
aadd_memory = awaited(add_memory)
aafter_failure = awaited(after_failure)
aartifact = awaited(artifact)
abenchmark_gate = awaited(benchmark_gate)
abenchmark_run = awaited(benchmark_run)
abenchmark_runs = awaited(benchmark_runs)
aconfirm_memory = awaited(confirm_memory)
acontext = awaited(context)
adeprecate_pattern = awaited(deprecate_pattern)
adiscard_dead_letters = awaited(discard_dead_letters)
adismiss_command = awaited(dismiss_command)
adismiss_lesson = awaited(dismiss_lesson)
aeffect = awaited(effect)
aerror_context = awaited(error_context)
aerror_stats = awaited(error_stats)
aexplain = awaited(explain)
aexplain_procedure = awaited(explain_procedure)
aexplain_run = awaited(explain_run)
aflush = awaited(flush)
aforget_memory = awaited(forget_memory)
agive_feedback = awaited(give_feedback)
alist_artifacts = awaited(list_artifacts)
alist_commands = awaited(list_commands)
alist_competences = awaited(list_competences)
alist_criteria = awaited(list_criteria)
alist_dead_letters = awaited(list_dead_letters)
alist_errors = awaited(list_errors)
alist_feedback = awaited(list_feedback)
alist_kinds = awaited(list_kinds)
alist_lessons = awaited(list_lessons)
alist_memories = awaited(list_memories)
alist_news = awaited(list_news)
alist_patterns = awaited(list_patterns)
alist_projects = awaited(list_projects)
alist_runs = awaited(list_runs)
apromote_pattern = awaited(promote_pattern)
arankings = awaited(rankings)
arecall = awaited(recall)
arecord_error = awaited(record_error)
areject_memory = awaited(reject_memory)
areplay_dead_letters = awaited(replay_dead_letters)
areset_pattern = awaited(reset_pattern)
aresolve_error = awaited(resolve_error)
arestore_command = awaited(restore_command)
arestore_lesson = awaited(restore_lesson)
aselect_competences = awaited(select_competences)
ashow_command = awaited(show_command)
ashow_competence = awaited(show_competence)
ashow_criterion = awaited(show_criterion)
ashow_lesson = awaited(show_lesson)
ashow_memory = awaited(show_memory)
ashow_pattern = awaited(show_pattern)
ashow_run = awaited(show_run)
asimilar_tasks = awaited(similar_tasks)
aspool = awaited(spool)
astrategies = awaited(strategies)
asummarise = awaited(summarise)
atag_pattern = awaited(tag_pattern)
aweigh = awaited(weigh)
