"""An agent of smolagents that mends a test, with a model that plays a script."""

from smolagents import ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)
from smolagents.monitoring import TokenUsage

turns = iter(
    [
        ("run_tests", {"path": "tests/"}),
        ("edit_file", {"path": "cart.py"}),
        ("run_tests", {"path": "tests/"}),
        ("final_answer", {"answer": "The tests pass."}),
    ]
)
edited = []


class Script(Model):
    def generate(self, messages, **_options):
        name, arguments = next(turns)
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id=f"call_{name}", type="function", function=function)
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content=None,
            tool_calls=[call],
            token_usage=TokenUsage(100, 20),
        )


@tool
def run_tests(path: str) -> str:
    """Run the tests.

    Args:
        path: where they are.
    """
    if not edited:
        raise ValueError("2 tests failed")
    return "12 passed"


@tool
def edit_file(path: str) -> str:
    """Edit a file.

    Args:
        path: the file.
    """
    edited.append(path)
    return "edited"


agent = ToolCallingAgent(
    tools=[run_tests, edit_file],
    model=Script(model_id="script"),
    name="mender",
    description="-",
    verbosity_level=0,
)
print(agent.run("Mend the failing tests of the cart"))
