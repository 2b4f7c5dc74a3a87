"""The memory of an agent that plays interactive fiction: an old interface of its own, kept, over `memories`.

    python examples/integrations/zork_manager.py MEMORY_FILE TURNS.jsonl
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

from memories import Memories, MemoriesError


class MemoryManager:
    def __init__(self, logger: logging.Logger, path: str) -> None:
        self.logger, self.memories = logger, Memories(path, session=True)

    def get_location_memory(self, location_id: int) -> str:
        return str(self.memories.recall(location_id))

    def record_action_outcome(self, place: dict[str, Any], action: str, response: str, z_machine: dict[str, Any]) -> str:
        turn = {"location_before": place, "action": action, "response": response, "z_machine_context": z_machine}
        try:
            return self.memories.record(turn).outcome
        except MemoriesError as error:  # Never a reason to end the game.
            self.logger.error("%s", error)
            return "failed"


if __name__ == "__main__":
    manager = MemoryManager(logging.getLogger("zork"), sys.argv[1])
    engine = ("score_before", "score_after", "location_after", "inventory_before", "inventory_after", "valid", "died")
    for turn in map(json.loads, Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()):
        prompt = manager.get_location_memory(turn["location_before"]["id"])
        facts = {name: turn[name] for name in engine if name in turn}
        outcome = manager.record_action_outcome(turn["location_before"], turn["action"], turn["response"], facts)
        print(f"{turn['action']}: {outcome}, {len(prompt)} characters of memory")
