"""An agent of openai-agents that mends a test and hands over, with a model that plays a script."""

import asyncio
import json

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


def call(number, name, **arguments):
    return ResponseFunctionToolCall(
        id=f"fc_{number}",
        call_id=f"call_{number}",
        name=name,
        arguments=json.dumps(arguments),
        type="function_call",
        status="completed",
    )


text = ResponseOutputText(text="The tests pass.", type="output_text", annotations=[])
turns = iter(
    [
        call(1, "run_tests", path="tests/"),
        call(2, "edit_file", path="cart.py"),
        call(3, "transfer_to_checker"),
        call(4, "run_tests", path="tests/"),
        ResponseOutputMessage(
            id="m", type="message", role="assistant", status="completed", content=[text]
        ),
    ]
)
edited = []


class Script(Model):
    async def get_response(self, *_arguments, **_options):
        return ModelResponse(output=[next(turns)], usage=Usage(), response_id="r")

    def stream_response(self, *_arguments, **_options):
        raise NotImplementedError


@function_tool
def run_tests(path: str) -> str:
    if not edited:
        raise RuntimeError("2 tests failed")
    return "12 passed"


@function_tool
def edit_file(path: str) -> str:
    edited.append(path)
    return "edited"


checker = Agent(name="checker", tools=[run_tests], model=Script())
mender = Agent(name="mender", tools=[run_tests, edit_file], model=Script(), handoffs=[checker])
print(asyncio.run(Runner.run(mender, "Mend the failing tests of the cart")).final_output)
