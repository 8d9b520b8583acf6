"""A task on a model's API that this program serves itself: with openai-agents, or in a loop.

Words after the first one: how many requests are answered before the API fails.
"""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import openai
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool

ASKED = "Mend the failing tests of the cart"
turns = ["run_tests", "edit_file", "run_tests", ""]
answered, most = [], int(sys.argv[2])
edited = []


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        told = {"error": {"message": "overloaded"}}
        status = 200 if len(answered) < most else 500
        if status == 200:
            name = turns[len(answered)]
            answered.append(name)
            function = {"name": name, "arguments": '{"path": "cart.py"}'}
            call = {"id": f"call_{len(answered)}", "type": "function", "function": function}
            said = {"tool_calls": [call]} if name else {"content": "The tests pass."}
            message = {"role": "assistant", **said}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            told = {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                    "choices": [choice]}  # fmt: skip
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def run_tests(path: str) -> str:
    return "12 passed" if edited else "2 failed, 10 passed"


def edit_file(path: str) -> str:
    edited.append(path)
    return "edited"


def by_hand(url):
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    messages = [{"role": "user", "content": ASKED}]
    while True:
        answer = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(answer.model_dump(exclude_none=True))
        if not answer.tool_calls:
            return answer.content
        for call in answer.tool_calls:
            result = globals()[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def by_agent(url):
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    model = OpenAIChatCompletionsModel("m", client)
    tools = [function_tool(run_tests), function_tool(edit_file)]
    agent = Agent(name="mender", tools=tools, model=model)
    try:
        return asyncio.run(Runner.run(agent, ASKED)).final_output
    except openai.APIError as error:
        return type(error).__name__


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
print({"agent": by_agent, "loop": by_hand}[sys.argv[1]](url))
