"""Print the text that a model of pydantic-ai reads after a call failed."""

# ruff: noqa: F821 - the test puts the adapter and its names in front
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def play(messages, _info):
    read = str(messages[-1].parts[0].content)
    if len(messages) > 1:
        return ModelResponse(parts=[TextPart(read)])
    return ModelResponse(parts=[ToolCallPart("bash", {"command": COMMAND}, tool_call_id="call_1")])


agent = Agent(FunctionModel(play), capabilities=[hooks])


@agent.tool_plain
def bash(command: str) -> str:
    """Run a command."""
    raise ModelRetry(ERROR)


print(agent.run_sync("Run the tests").output)
