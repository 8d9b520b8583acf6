"""The dialects of the models' APIs: what was said so far, which tools there are, how to answer."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from tests.clients.tool_calls import Offer, ToolCall

Json: TypeAlias = dict[str, Any]
Event: TypeAlias = tuple[str, Json]

_USAGE: Final = {"input_tokens": 100, "output_tokens": 20}


class Turn(NamedTuple):
    """A part of a conversation: who is "person", "call" or "result"."""

    who: str
    text: str


class Answer(NamedTuple):
    """A model's answer: a text, or a call of a tool.

    Attributes:
        id: what its ids are made of; no two answers have the same.
        text: what it says; "" with a call.
        call: the call of a tool; None with a text.
        model: the model that was asked for.
    """

    id: str
    text: str
    call: ToolCall | None
    model: str


def offers_of(body: Json) -> dict[str, Offer]:
    """Return the tools that a request offers, by name, in whichever dialect."""
    offered = list(body.get("tools") or ())
    for item in body.get("input", ()):
        offered += item.get("tools", ()) if item.get("type") == "additional_tools" else ()
    return dict(_named(offered, ""))


def _named(offered: list[Json], namespace: str) -> Iterator[tuple[str, Offer]]:
    for tool in offered:
        if tool.get("type") == "namespace":
            yield from _named(tool["tools"], tool["name"])
        elif "functionDeclarations" in tool:
            yield from _named(tool["functionDeclarations"], namespace)
        elif "name" in (named := tool.get("function") or tool):
            schemas = ("parameters", "input_schema", "parametersJsonSchema")
            schema: Json = next((named[key] for key in schemas if named.get(key)), {})
            taken = frozenset(schema.get("properties") or ())
            yield named["name"], Offer(tool.get("type", "function"), namespace, taken)


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") or part.get("encrypted_content") or "" for part in parts)
    return "\n".join(texts)


def turns_of_messages(body: Json) -> Iterator[Turn]:
    """Read the conversation of a request to Anthropic's Messages."""
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if block["type"] == "tool_use":
                yield Turn("call", block["name"])
            elif block["type"] == "text" and message["role"] == "user":
                yield Turn("person", block["text"])


def turns_of_responses(body: Json) -> Iterator[Turn]:
    """Read the conversation of a request to OpenAI's Responses."""
    for item in body["input"]:
        if item["type"] in ("function_call", "custom_tool_call"):
            yield Turn("call", item["name"])
        elif item["type"] in ("function_call_output", "custom_tool_call_output"):
            output = item["output"]
            yield Turn("result", output if isinstance(output, str) else _text_of(output))
        elif item.get("role") == "user" or item["type"] == "agent_message":
            yield Turn("person", _text_of(item.get("content")))


def turns_of_completions(body: Json) -> Iterator[Turn]:
    """Read the conversation of a request to Chat Completions."""
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            yield Turn("call", call["function"]["name"])
        if message["role"] == "user":
            yield Turn("person", _text_of(message["content"]))


def turns_of_gemini(body: Json) -> Iterator[Turn]:
    """Read the conversation of a request to Gemini."""
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                yield Turn("call", part["functionCall"]["name"])
            elif "text" in part and content.get("role") == "user":
                yield Turn("person", part["text"])


def as_messages(answer: Answer) -> bytes:
    """Return an answer as Anthropic's Messages streams it."""
    return _server_sent(_messages_events(answer))


def as_responses(answer: Answer, offers: Mapping[str, Offer]) -> bytes:
    """Return an answer as OpenAI's Responses streams it."""
    return _server_sent(_responses_events(answer, offers))


def as_completions(answer: Answer) -> bytes:
    """Return an answer as Chat Completions streams it."""
    chunks = [json.dumps(chunk) for chunk in _completions_chunks(answer)]
    return "".join(f"data: {chunk}\n\n" for chunk in [*chunks, "[DONE]"]).encode()


def as_gemini(answer: Answer) -> bytes:
    """Return an answer as Gemini streams it."""
    part: Json = {"text": answer.text}
    if answer.call:
        part = {"functionCall": {"name": answer.call.tool, "args": answer.call.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": answer.model}
    return f"data: {json.dumps(whole)}\n\n".encode()


def _server_sent(events: Iterator[Event]) -> bytes:
    whole = ((name, json.dumps({"type": name, **data})) for name, data in events)
    return "".join(f"event: {name}\ndata: {data}\n\n" for name, data in whole).encode()


def _messages_events(answer: Answer) -> Iterator[Event]:
    message = {
        "id": f"msg_{answer.id}", "type": "message", "role": "assistant", "model": answer.model,
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {**_USAGE, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }  # fmt: skip
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": answer.text}
    if answer.call:
        block = {
            "type": "tool_use",
            "id": f"call_{answer.id}",
            "name": answer.call.tool,
            "input": {},
        }
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.call.arguments)}
    ended = {"stop_reason": "tool_use" if answer.call else "end_turn", "stop_sequence": None}
    yield "message_start", {"message": message}
    yield "content_block_start", {"index": 0, "content_block": block}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": ended, "usage": {"output_tokens": 20}}
    yield "message_stop", {}


def _responses_events(answer: Answer, offers: Mapping[str, Offer]) -> Iterator[Event]:
    identified = {"id": f"resp_{answer.id}"}
    usage = {
        **_USAGE,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 120,
    }
    yield "response.created", {"response": identified}
    item = _responses_item(answer, offers)
    yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": {**identified, "usage": usage}}


def _responses_item(answer: Answer, offers: Mapping[str, Offer]) -> Json:
    if answer.call is None:
        said = [{"type": "output_text", "text": answer.text}]
        message = {"type": "message", "role": "assistant", "content": said}
        return {**message, "id": f"msg_{answer.id}"}
    offer = offers[answer.call.tool]
    item = {"id": f"fc_{answer.id}", "call_id": f"call_{answer.id}", "name": answer.call.tool}
    if offer.namespace:
        item["namespace"] = offer.namespace
    if offer.kind == "custom":
        return {**item, "type": "custom_tool_call", "input": answer.call.arguments}
    return {**item, "type": "function_call", "arguments": json.dumps(answer.call.arguments)}


def _completions_chunks(answer: Answer) -> Iterator[Json]:
    delta: Json = {"role": "assistant", "content": answer.text}
    if answer.call:
        function = {"name": answer.call.tool, "arguments": json.dumps(answer.call.arguments)}
        call = {"index": 0, "id": f"call_{answer.id}", "type": "function", "function": function}
        delta = {"role": "assistant", "tool_calls": [call]}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    frame = {"id": f"chat_{answer.id}", "object": "chat.completion.chunk", "created": 1}
    yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if answer.call else "stop"}
    yield {**frame, "choices": [ended], "usage": usage}
