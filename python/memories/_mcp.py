"""Requests to `memories mcp`, one process each, and its tools as other programs offer them: for `memories.tools`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from memories._client import Memories
from memories._errors import MemoriesError

#: For each tool the one of MCP, and those of its arguments that the model may give.
TOOLS = {
    "recall": ("get_location_memories", "location"),
    "tried": ("check_action", "location action"),
    "record": (
        "record_turn",
        "location action response location_after score_after inventory_after world_changed died won",
    ),
    "remember": ("form_memory", "content scope title type importance"),
    "search": ("query_memories", "question"),
    "path": ("find_path", "to from"),
}

#: What each request says of its client, in place of a session.
_META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Refused(MemoriesError):
    """A request that was wrong, in contrast to a command line that was."""


def ask(memories: Memories, command: Sequence[str], method: str, **params: Any) -> dict[str, Any]:
    """The result of one request. Raises `Refused` where the request was wrong, else `MemoriesError`."""
    request: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META}}
    reply = memories.run(*command, input=json.dumps(request))
    if not reply:
        # The server passes over a line that it cannot parse, such as one with half a surrogate pair.
        raise Refused("the message is not JSON: it has a text, a number or a depth that JSON does not allow", code=2)
    if "result" not in reply:
        if reply["error"]["code"] in (-32700, -32600, -32602):
            raise Refused(reply["error"]["message"], code=2)
        raise MemoriesError(reply["error"]["message"], code=70)
    result: dict[str, Any] = reply["result"]
    return result


def described(memories: Memories, command: Sequence[str], prefix: str) -> Iterator[dict[str, Any]]:
    """Name, description and parameters of each tool. All are required; what may be left out may be null."""
    offered = {tool["name"]: tool for tool in ask(memories, command, "tools/list")["tools"]}
    for name, (tool, known) in TOOLS.items():
        if tool in offered:
            schema, text = offered[tool]["inputSchema"], offered[tool]["description"]
            properties = {key: dict(schema["properties"][key]) for key in known.split()}
            for key in properties.keys() - set(schema["required"]):
                properties[key]["type"] = [properties[key]["type"], "null"]
            parameters = {"type": "object", "properties": properties, "required": list(properties)}
            yield {
                "name": prefix + name,
                "description": text.replace("record_turn", f"`{prefix}record`"),
                "parameters": {**parameters, "additionalProperties": False},
            }
