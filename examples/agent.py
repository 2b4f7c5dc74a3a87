"""The loop of an agent that remembers: recall before each turn, ask before an action, record after it.

    python examples/agent.py TURNS.jsonl [COUNT]

The game and the agent are a file of recorded turns, so that this runs anywhere. With a real game, take the place from
its engine, and the action from your agent.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path

# The memory.
from memories import Memories, MemoriesError, Place, Tried, Turn


def play(game: Game, path: str) -> None:
    try:
        with Memories(path, session=True) as memories:
            memories.start_episode()
            while game.turns:
                action = game.choose(str(memories.recall(game.place)))
                if tried := memories.tried(game.place, action):
                    action = game.reconsider(action, tried)
                print(f"> {action}: {memories.record(game.step(action)).outcome}")
    except MemoriesError as error:
        sys.exit(f"error: {error}")


# The game and the agent.
class Game:
    """Recorded turns, one after the other."""

    #: What a real game says of a turn.
    FACTS = ("action", "response", "location_before", "location_after", "score_before", "score_after", "valid", "died")

    def __init__(self, path: Path, count: int) -> None:
        with path.open(encoding="utf-8") as lines:
            turns = [json.loads(line) for line in islice(lines, count)]
        self.turns = [Turn.from_json({name: turn[name] for name in self.FACTS if name in turn}) for turn in turns]

    @property
    def place(self) -> int | str | Place:
        """Where the player is, as the engine says."""
        return self.turns[0].location

    def choose(self, context: str) -> str:
        """The action of the agent, whose prompt has `context`."""
        return self.turns[0].action

    def reconsider(self, action: str, tried: Tried) -> str:
        """Another action, because this one was tried in vain. The recorded player is stubborn."""
        print(f"  {action} was tried {tried.count}× in vain: {tried.reply}")
        return action

    def step(self, action: str) -> Turn:
        """What the action does."""
        return self.turns.pop(0)


if __name__ == "__main__":
    play(Game(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5), "Memories.md")
