"""The attributes of each vocabulary that runs are made of: one table, better-known names first.

Only attributes that are named here are ever read, and nothing else is kept: LangSmith, for one,
copies whatever stands in `LANGSMITH_…` variables into its spans.
"""

from enum import StrEnum
from typing import Final


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


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _kinds(**values: str) -> dict[str, SpanKind]:
    """Return the kinds of spans by the values of an attribute, given by the kind."""
    return {each: SpanKind(kind) for kind, text in values.items() for each in text.split()}


KINDS: Final = (
    # Claude Code
    (
        "span.type",
        _kinds(
            run="interaction",
            tool="tool",
            detail="tool.execution tool.blocked_on_user",
            model="llm_request",
        ),
    ),
    # GenAI semantic conventions. Creating an agent is no run of it; `execute_task` is a graph node,
    # and so is LangSmith's "chain".
    (
        "gen_ai.operation.name",
        _kinds(
            run="invoke_agent invoke_workflow",
            tool="execute_tool",
            model="chat generate_content text_completion",
            other="create_agent",
            step="execute_task chain",
        ),
    ),
    ("openinference.span.kind", _kinds(run="AGENT", tool="TOOL", step="CHAIN", model="LLM")),
    ("traceloop.span.kind", _kinds(run="workflow agent", tool="tool", step="task")),
    ("langsmith.span.kind", _kinds(step="chain", tool="tool", model="llm")),
    (
        "langfuse.observation.type",
        _kinds(run="agent", tool="tool", step="chain span", model="generation"),
    ),
    (
        "ai.operationId",
        _kinds(
            tool="ai.toolCall",
            run="ai.streamText ai.generateText ai.streamObject ai.generateObject",
            model="ai.streamText.doStream ai.generateText.doGenerate ai.streamObject.doStream"
            " ai.generateObject.doGenerate",
        ),
    ),
)

# Whatever a framework invokes is at work: Strands has swarms and graphs beside agents.
INVOCATION: Final = "invoke_"
# Spans that only their instrumentation and their name tell apart.
NAMED: Final = {("agent_framework", "workflow.run"): SpanKind.RUN}

TOOL: Final = _names("""
    gen_ai.tool.name tool.name ai.toolCall.name tool_name traceloop.entity.name
""")
CALL_ID: Final = _names("""
    gen_ai.tool.call.id ai.toolCall.id tool_use_id tool_call.id tool.call_id call_id tool.id
""")
ARGUMENTS: Final = _names("""
    gen_ai.tool.call.arguments tool_arguments ai.toolCall.args tool_input input.value
    traceloop.entity.input langfuse.observation.input gen_ai.prompt arguments
""")
COMMAND: Final = ("full_command", "process.command_line")
EDITED: Final = ("file_path",)
RESULT: Final = _names("""
    gen_ai.tool.call.result tool_response ai.toolCall.result output.value
    traceloop.entity.output langfuse.observation.output gen_ai.completion output
""")
ERROR: Final = ("error.message", "langfuse.observation.status_message", "error")
ERROR_TYPE: Final = ("error.type", "error_type")
# What says outright how a call went, and the words that mean failure.
FAILED: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("gen_ai.tool.status", frozenset({"error", "failed", "failure"})),
    ("gen_ai.task.status", frozenset({"error", "failed", "failure"})),
    ("langfuse.observation.level", frozenset({"error"})),
    ("success", frozenset({"false"})),
)
EXIT_CODE: Final = ("gen_ai.tool.exit_code", "process.exit.code", "exit_code")
AGENT_NAME: Final = _names("""
    gen_ai.agent.name agent.name agent_name traceloop.workflow.name
    langsmith.metadata.lc_agent_name langfuse.trace.name langsmith.trace.name
    ai.telemetry.functionId
""")
SESSION: Final = _names("""
    session.id gen_ai.conversation.id langfuse.session.id conversation.id
    langsmith.metadata.thread_id langsmith.metadata.session_id
    traceloop.association.properties.session_id traceloop.association.properties.thread_id
    ai.telemetry.metadata.sessionId
""")
PROMPT_ID: Final = ("prompt.id", "turn.id")
# Raised where a call waits for a person, and is made anew after the answer.
PAUSES: Final = ("GraphInterrupt", "NodeInterrupt", "ApprovalRequired", "CallDeferred")
PROMPT: Final = _names("""
    user_prompt gen_ai.input.messages pydantic_ai.all_messages langfuse.trace.input
    langfuse.observation.input traceloop.entity.input ai.prompt ai.prompt.messages gen_ai.prompt
    input.value crew_tasks
""")
# Messages that are spread over attributes: the prefix, then a number, then the part's name.
SPREAD_PROMPTS: Final = (
    ("llm.input_messages.{}.message.role", "llm.input_messages.{}.message.content"),
    ("gen_ai.prompt.{}.role", "gen_ai.prompt.{}.content"),
)
PROMPT_EVENTS: Final = ("gen_ai.user.message", "gen_ai.client.inference.operation.details")
CALL_EVENTS: Final = ("gen_ai.tool.message", "tool.output")
RESULT_EVENTS: Final = ("gen_ai.choice",)
MODEL: Final = _names("""
    gen_ai.response.model gen_ai.request.model llm.model_name ai.model.id model
    langfuse.observation.model.name
""")
TOKENS_IN: Final = _names("""
    gen_ai.usage.input_tokens llm.token_count.prompt ai.usage.inputTokens ai.usage.promptTokens
    gen_ai.usage.prompt_tokens input_tokens
""")
TOKENS_OUT: Final = _names("""
    gen_ai.usage.output_tokens llm.token_count.completion ai.usage.outputTokens
    ai.usage.completionTokens gen_ai.usage.completion_tokens output_tokens
""")
USD: Final = ("cost_usd", "gen_ai.usage.cost", "llm.cost.total")
FOLDER: Final = ("trackrecord.folder", "process.working_directory", "cwd")
PROJECT: Final = ("trackrecord.project",)
REPOSITORY: Final = ("vcs.repository.url.full", "vcs.repository.name")
BRANCH: Final = ("vcs.ref.head.name", "git_branch")

# These set an error status whenever a tool raised, so that another status means that it did not.
# Any other instrumentation's status proves nothing without the tool's result.
SETS_ERRORS: Final = _names("""
    pydantic-ai openinference. opentelemetry.instrumentation. strands agent_framework langsmith
    langfuse trackrecord.crewai
""")

# Calls that are none: how a framework ends a run or passes it on.
FINAL_TOOLS: Final = frozenset({"final_answer", "final_result", "finish"})
HANDOFF: Final = "handoff"
HANDOFFS: Final = ("handoff to ", "handoff_to_", "transfer_to_", "transfer_back_to_")
