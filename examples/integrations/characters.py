"""Characters who talk and ask their memory over MCP, each through a server of its own.

    python examples/integrations/characters.py MEMORY_FILE CAST.yaml
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from memories import Memories

#: Who speaks, what, and what the character asks its memory before.
LINES: list[tuple[str, str, tuple[str, dict[str, Any]]]] = [
    ("alex", "Shall we talk about dinner?", ("query_self", {})),
    ("jordan", "I would love some Italian food.", ("query_character", {"name": "Alex"})),
    ("alex", "Then Bella's it is.", ("query_memories", {"question": "what did Jordan say about food?"})),
]


async def speak(path: str, turn: int, agent: str, line: str, question: tuple[str, dict[str, Any]]) -> None:
    server = StdioServerParameters(command="memories", args=["--file", path, "mcp", "--agent", agent])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        answer = await session.call_tool(*question)
        known: Any = answer.structured_content
        print(f"{agent} asks {question[0]}:", *(memory["content"] for memory in known["memories"][:2]), sep="\n  ")
        said = {"content": line, "type": "dialogue", "scope": "dialogue", "turn": turn, "speaker": agent}
        await session.call_tool("form_memory", said)


if __name__ == "__main__":
    Memories(sys.argv[1]).run("seed", sys.argv[2])
    for number, (who, words, first) in enumerate(LINES, 1):
        asyncio.run(speak(sys.argv[1], number, who, words, first))
