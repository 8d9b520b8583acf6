"""An agent of langchain that mends a test, with a model that plays a script."""

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


def turn(number, name, **arguments):
    call = {"name": name, "args": arguments, "id": f"call_{number}"}
    return AIMessage(content="", tool_calls=[call])


turns = iter(
    [
        turn(1, "run_tests", path="tests/"),
        turn(2, "edit_file", path="cart.py"),
        turn(3, "run_tests", path="tests/"),
        AIMessage(content="The tests pass."),
    ]
)
edited = []


@tool
def run_tests(path: str) -> str:
    """Run the tests."""
    if not edited:
        raise ValueError("2 tests failed")
    return "12 passed"


@tool
def edit_file(path: str) -> str:
    """Edit a file."""
    edited.append(path)
    return "edited"


@wrap_tool_call
def tell_errors(request, handler):
    try:
        return handler(request)
    except ValueError as error:
        return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")


agent = create_agent(
    Script(messages=turns), tools=[run_tests, edit_file], name="mender", middleware=[tell_errors]
)
asked = {"messages": [("user", "Mend the failing tests of the cart")]}
print(agent.invoke(asked)["messages"][-1].content)
