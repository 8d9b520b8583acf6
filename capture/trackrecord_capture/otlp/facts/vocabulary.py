"""The attributes of each vocabulary that runs are made of: one table, better-known names first.

Only attributes that are named here are ever read, and nothing else is kept: LangSmith, for one,
copies whatever stands in `LANGSMITH_…` variables into its spans.
"""

from enum import StrEnum
from typing import Final

from ...tables import Tables


class SpanKind(StrEnum):
    """The role of a span in a run."""

    RUN = "run"
    """An agent or a workflow at work."""
    STEP = "step"
    """A step of a framework's graph: no call, and a run only if nothing stands above it."""
    TOOL = "tool"
    """A call of a tool."""
    DETAIL = "detail"
    """A part of the call above it, which may know better how the call went."""
    MODEL = "model"
    """A request to a model."""
    PROMPT = "prompt"
    """An event: a person's prompt, with which a run begins."""
    OTHER = "other"
    """Anything else; it only says which span stands under which."""


_TABLES: Final = Tables(__file__)
KINDS: Final = tuple(
    (name, {value: SpanKind(kind) for kind, values in kinds.items() for value in values.split()})
    for name, kinds in _TABLES.read("kinds", dict[str, dict[str, str]]).items()
)

# Whatever a framework invokes is at work: Strands has swarms and graphs beside agents.
INVOCATION: Final = "invoke_"
# Spans that only their instrumentation and their name tell apart.
NAMED: Final = {("agent_framework", "workflow.run"): SpanKind.RUN}

TOOL: Final = _TABLES.in_order("tool")
SHELLS: Final = _TABLES.words("shells")
EDITORS: Final = _TABLES.words("editors")
CALL_ID: Final = _TABLES.in_order("call_id")
ARGUMENTS: Final = _TABLES.in_order("arguments")
COMMAND: Final = ("full_command", "process.command_line")
EDITED: Final = ("file_path",)
RESULT: Final = _TABLES.in_order("result")
ERROR: Final = ("error.message", "langfuse.observation.status_message", "error")
ERROR_TYPE: Final = ("error.type", "error_type")
FAILED: Final = _TABLES.by_name("failed")
EXIT_CODE: Final = ("gen_ai.tool.exit_code", "process.exit.code", "exit_code")
AGENT_NAME: Final = _TABLES.in_order("agent_name")
SESSION: Final = _TABLES.in_order("session")
PROMPT_ID: Final = ("prompt.id", "turn.id")
# Raised where a call waits for a person, and is made anew after the answer.
PAUSES: Final = ("GraphInterrupt", "NodeInterrupt", "ApprovalRequired", "CallDeferred")
PROMPT: Final = _TABLES.in_order("prompt")
# Messages that are spread over attributes: the prefix, then a number, then the part's name.
SPREAD_PROMPTS: Final = (
    ("llm.input_messages.{}.message.role", "llm.input_messages.{}.message.content"),
    ("gen_ai.prompt.{}.role", "gen_ai.prompt.{}.content"),
)
PROMPT_EVENTS: Final = ("gen_ai.user.message", "gen_ai.client.inference.operation.details")
CALL_EVENTS: Final = ("gen_ai.tool.message", "tool.output")
RESULT_EVENTS: Final = ("gen_ai.choice",)
MODEL: Final = _TABLES.in_order("model")
TOKENS_IN: Final = _TABLES.in_order("tokens_in")
TOKENS_OUT: Final = _TABLES.in_order("tokens_out")
USD: Final = ("cost_usd", "gen_ai.usage.cost", "llm.cost.total")
FOLDER: Final = ("trackrecord.folder", "process.working_directory", "cwd")
PROJECT: Final = ("trackrecord.project",)
REPOSITORY: Final = ("vcs.repository.url.full", "vcs.repository.name")
BRANCH: Final = ("vcs.ref.head.name", "git_branch")

SETS_ERRORS: Final = _TABLES.in_order("sets_errors")

# Calls that are none: how a framework ends a run or passes it on.
FINAL_TOOLS: Final = frozenset({"final_answer", "final_result", "finish"})
HANDOFF: Final = "handoff"
HANDOFFS: Final = ("handoff to ", "handoff_to_", "transfer_to_", "transfer_back_to_")
