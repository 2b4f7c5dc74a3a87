"""Servers on loopback that answer as the APIs of OpenAI and Anthropic document it, for the SDKs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Calls = list[tuple[str, Any]]

#: A tool that the API of Anthropic describes to the model itself.
MEMORY_TOOL: Body = {"type": "memory_20250818", "name": "memory"}


class Refusal(Exception):
    """A request that the real API answers with 400."""


@contextmanager
def served(path: str, answer: Callable[[Body], Body]) -> Generator[str]:
    """Serves `answer` at a path, and gives the address of the server."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, reply = (200, answer(body)) if self.path == path else (404, {"error": {"message": self.path}})
            except Refusal as refusal:
                status, reply = 400, {"error": {"type": "invalid_request_error", "message": str(refusal)}}
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def openai(rounds: list[Calls], seen: list[Body]) -> Callable[[Body], Body]:
    """Chat completions of a model that calls these tools, a list a round, and then says `Done.`"""

    def answer(body: Body) -> Body:
        seen.append(body)
        for tool in body["tools"]:
            check_strict(tool["function"])
        messages = body["messages"]
        asked = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        told = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        if asked != told:
            raise Refusal(f"tool_calls must be followed by tool messages: {asked} and {told}")
        calls = rounds[len(seen) - 1] if len(seen) <= len(rounds) else []
        made = [
            {
                "id": f"call_{len(seen)}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": text_of(given)},
            }
            for at, (name, given) in enumerate(calls)
        ]
        message: Body = {"role": "assistant", "content": None if made else "Done.", "refusal": None}
        choice = {"index": 0, "finish_reason": "tool_calls" if made else "stop", "logprobs": None}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{**choice, "message": message | ({"tool_calls": made} if made else {})}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    return answer


def anthropic(rounds: list[Calls], seen: list[Body]) -> Callable[[Body], Body]:
    """Messages of a model that calls these tools, a list a round, and then says `Done.`"""

    def answer(body: Body) -> Body:
        seen.append(body)
        for tool in (tool for tool in body["tools"] if tool != MEMORY_TOOL):
            if tool.keys() - {"name", "description", "input_schema"} or tool["input_schema"]["type"] != "object":
                raise Refusal(f"tools: {tool}")
        *before, last = body["messages"]
        asked = [block["id"] for block in blocks_of(*before[-1:]) if block["type"] == "tool_use"]
        if asked != [block["tool_use_id"] for block in blocks_of(last) if block["type"] == "tool_result"]:
            raise Refusal(f"tool_use ids were found without tool_result blocks: {asked}")
        calls = rounds[len(seen) - 1] if len(seen) <= len(rounds) else []
        made = [
            {"type": "tool_use", "id": f"toolu_{len(seen)}_{at}", "name": name, "input": given}
            for at, (name, given) in enumerate(calls)
        ]
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": made or [{"type": "text", "text": "Done."}],
            "stop_reason": "tool_use" if made else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    return answer


def blocks_of(*messages: Body) -> list[Body]:
    """The blocks of messages of Anthropic, without those whose content is a text."""
    return [block for message in messages for block in message["content"] or () if not isinstance(block, str)]


def check_strict(function: Body) -> None:
    """Refuses what OpenAI refuses with `strict`: arguments that may be left out, others, and unknown types."""
    schema = function["parameters"]
    known = {"string", "number", "integer", "boolean", "array", "object", "null"}
    kinds = [kind for one in schema["properties"].values() for kind in listed(one["type"])]
    if not (
        function["strict"] is True
        and schema["additionalProperties"] is False
        and set(schema["required"]) == set(schema["properties"])
        and set(kinds) <= known
        and all("items" in one for one in schema["properties"].values() if "array" in listed(one["type"]))
        and not {key for one in schema["properties"].values() for key in one} - {"type", "items", "description", "enum"}
    ):
        raise Refusal(f"Invalid schema for function '{function['name']}'")


def listed(kind: str | list[str]) -> list[str]:
    return [kind] if isinstance(kind, str) else kind


def text_of(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given)
