"""An agent of pydantic-ai that mends a test, with a model that plays a script."""

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

turns = iter(
    [
        [ToolCallPart("run_tests", {"path": "tests/"}, tool_call_id="call_1")],
        [ToolCallPart("edit_file", {"path": "cart.py"}, tool_call_id="call_2")],
        [ToolCallPart("run_tests", {"path": "tests/"}, tool_call_id="call_3")],
        [TextPart("The tests pass.")],
    ]
)
agent = Agent(FunctionModel(lambda *_: ModelResponse(parts=next(turns))), name="mender")
edited = []


@agent.tool_plain
def run_tests(path: str) -> str:
    """Run the tests."""
    if not edited:
        raise ModelRetry("2 tests failed")
    return "12 passed"


@agent.tool_plain
def edit_file(path: str) -> str:
    """Edit a file."""
    edited.append(path)
    return "edited"


print(agent.run_sync("Mend the failing tests of the cart").output)
