"""A task of a framework on a model of its own for tests: the framework's name comes with it."""

import sys

ASKED = "Mend the failing tests of the cart"
SAID = "The tests pass."
edited = []


def run_tests(path: str) -> str:
    """Run the tests.

    Args:
        path: what is tested.
    """
    return "12 passed" if edited else "2 failed, 10 passed"


def edit_file(path: str) -> str:
    """Edit a file.

    Args:
        path: the file.
    """
    edited.append(path)
    return "edited"


TURNS = ["run_tests", "edit_file", "run_tests"]


def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def model(messages, _):
        done = sum(isinstance(each, ModelResponse) for each in messages)
        if done == len(TURNS):
            return ModelResponse(parts=[TextPart(SAID)])
        return ModelResponse(parts=[ToolCallPart(TURNS[done], {"path": "cart.py"})])

    Agent.instrument_all()
    tools = [run_tests, edit_file]
    return Agent(FunctionModel(model), name="mender", tools=tools).run_sync(ASKED).output


def smolagents():
    from smolagents import ToolCallingAgent, tool
    from smolagents.models import ChatMessage, ChatMessageToolCall, Model
    from smolagents.models import ChatMessageToolCallFunction as Function
    from smolagents.monitoring import TokenUsage

    script = [(name, {"path": "cart.py"}) for name in TURNS]
    script.append(("final_answer", {"answer": SAID}))

    class Script(Model):
        def generate(self, messages, **_):
            name, arguments = script.pop(0)
            function = Function(name=name, arguments=arguments)
            call = ChatMessageToolCall(id=f"call_{len(script)}", type="function", function=function)
            usage = TokenUsage(1, 1)
            return ChatMessage(role="assistant", content=None, tool_calls=[call], token_usage=usage)

    tools = [tool(run_tests), tool(edit_file)]
    return ToolCallingAgent(tools, Script(model_id="m"), verbosity_level=0).run(ASKED)


def crewai():
    from crewai import Agent, BaseLLM, Crew, Task
    from crewai.tools import tool

    script = list(TURNS)

    class Script(BaseLLM):
        def call(self, *_, **__):
            if not script:
                return SAID
            function = {"name": script.pop(0), "arguments": '{"path": "cart.py"}'}
            return [{"id": f"call_{len(script)}", "type": "function", "function": function}]

        def supports_function_calling(self):
            return True

    tools = [tool(run_tests), tool(edit_file)]
    agent = Agent(role="mender", goal="mend", backstory="-", llm=Script(model="m"), tools=tools)
    task = Task(description=ASKED, expected_output="green tests", agent=agent)
    return Crew(agents=[agent], tasks=[task]).kickoff().raw


print({"crewai": crewai, "pydantic-ai": pydantic_ai, "smolagents": smolagents}[sys.argv[1]]())
