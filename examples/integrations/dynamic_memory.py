"""A game master's memory: what was said is summed up when a place is left or something is achieved.

    python examples/integrations/dynamic_memory.py MEMORY_FILE CHAT.jsonl

The conversation is JSON Lines of messages. Ids of places and characters are the game's own.
"""

import sys
from typing import Any

from memories import Memories


class MemoryService:
    def __init__(self, path: str, chat: str) -> None:
        self.memories, self.chat = Memories(path), chat

    def on_location_exit(self, place: str, present: dict[str, str]) -> dict[str, Any]:
        there = ",".join(f"{key}={name}" for key, name in present.items())
        return self._digest(f"--exit=location:{place}", *([f"--present={there}"] if there else []))

    def on_world_event(self, kind: str, tags: list[str], related: dict[str, str]) -> dict[str, Any]:
        links = [f"--related={key}={value}" for key, value in related.items()]
        return self._digest(f"--event={kind}", *links, *(f"--tag={tag}" for tag in tags))

    def context(self, place: str, present: dict[str, str], last: int = 3) -> str:
        scopes = [f"location:{place}", *(f"npc:{key}" for key in present), "world"]
        text: str = self.memories.run("recall", *scopes, "--brief", f"--last={last}")["text"]
        return text

    def _digest(self, *arguments: str) -> dict[str, Any]:
        return self.memories.run("digest", "--conversation", self.chat, *arguments)


if __name__ == "__main__":
    service = MemoryService(sys.argv[1], sys.argv[2])
    mira = {"npc-mira-01": "Mira"}
    print(service.on_location_exit("ashwood-glade", mira)["outcome"])
    print(service.on_world_event("quest_completed", ["act-1"], {"quest_id": "silver-key"})["outcome"])
    print(service.context("ashwood-glade", mira))
