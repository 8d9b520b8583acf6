"""A task of langgraph of which a person approves each call: one thread, four invocations."""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


@tool
def run_tests(path: str) -> str:
    """Run the tests."""
    return "12 passed" if edited else "2 failed, 10 passed"


@tool
def edit_file(path: str) -> str:
    """Edit a file."""
    edited.append(path)
    return "edited"


def turn(number, name):
    call = {"name": name, "args": {"path": "cart.py"}, "id": f"call_{number}"}
    return AIMessage(content="", tool_calls=[call])


edited = []
turns = [turn(at, name) for at, name in enumerate(["run_tests", "edit_file", "run_tests"])]
agent = create_agent(
    Script(messages=iter([*turns, AIMessage(content="The tests pass.")])),
    tools=[run_tests, edit_file],
    name="mender",
    checkpointer=InMemorySaver(),
    interrupt_before=["tools"],
)
thread = {"configurable": {"thread_id": "thread-1"}}
answer = agent.invoke({"messages": [("user", "Mend the failing tests of the cart")]}, thread)
for _ in turns:
    answer = agent.invoke(None, thread)
print(answer["messages"][-1].content)
