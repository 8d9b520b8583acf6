"""Print the text that a model of openai-agents reads after a call failed."""

# ruff: noqa: F821 - the test puts the adapter and its names in front
import asyncio

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


class Script(Model):
    async def get_response(self, *_arguments, **options):
        given = [each for each in options["input"] if each.get("type") == "function_call_output"]
        if given:
            text = ResponseOutputText(text=given[0]["output"], type="output_text", annotations=[])
            said = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            said = ResponseFunctionToolCall(
                id="fc",
                call_id="call_1",
                name="bash",
                type="function_call",
                status="completed",
                arguments=json.dumps({"command": COMMAND}),
            )
        return ModelResponse(output=[said], usage=Usage(), response_id="r")

    def stream_response(self, *_arguments, **_options):
        raise NotImplementedError


@function_tool(failure_error_function=tell)
def bash(command: str) -> str:
    raise RuntimeError(ERROR)


agent = Agent(name="tester", tools=[bash], model=Script())
asked = Runner.run(
    agent, "Run the tests", run_config=RunConfig(group_id="s1", tracing_disabled=True)
)
print(asyncio.run(asked).final_output)
