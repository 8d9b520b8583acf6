"""A crew of crewai that mends a test, with a model that plays a script."""

import json
import os

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["CREWAI_DISABLE_TRACKING"] = "true"

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

turns = iter(
    [
        ("run_tests", {"path": "tests/"}),
        ("edit_file", {"path": "cart.py"}),
        ("run_tests", {"path": "tests/"}),
    ]
)
edited = []


class Script(BaseLLM):
    def call(self, messages, **_options):
        name, arguments = next(turns, (None, None))
        if name is None:
            return "The tests pass."
        function = {"name": name, "arguments": json.dumps(arguments)}
        return [{"id": f"call_{name}", "type": "function", "function": function}]

    def supports_function_calling(self):
        return True


@tool("run_tests")
def run_tests(path: str) -> str:
    """Run the tests."""
    if not edited:
        raise ValueError("2 tests failed")
    return "12 passed"


@tool("edit_file")
def edit_file(path: str) -> str:
    """Edit a file."""
    edited.append(path)
    return "edited"


mender = Agent(
    role="mender",
    goal="mend",
    backstory="-",
    tools=[run_tests, edit_file],
    llm=Script(model="script"),
)
task = Task(
    description="Mend the failing tests of the cart", expected_output="a word", agent=mender
)
print(Crew(agents=[mender], tasks=[task]).kickoff())
