"""Print the text that a model of langchain reads after a call failed."""

# ruff: noqa: F821 - the test puts the adapter and its names in front
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


@tool
def bash(command: str) -> str:
    """Run a command."""
    raise RuntimeError(ERROR)


call = {"name": "bash", "args": {"command": COMMAND}, "id": "call_1"}
turns = iter([AIMessage(content="", tool_calls=[call]), AIMessage(content="done")])
agent = create_agent(Script(messages=turns), tools=[bash], middleware=[tell])
asked = {"messages": [("user", "Run the tests")]}
read = agent.invoke(asked, {"configurable": {"thread_id": "s1"}})["messages"]
print(read[-2].content)
