"""The loop of an agent that remembers: recall before each turn, ask before an action, record after it.

    python examples/loop.py AGENT GAME [ARGUMENT]...
    python examples/loop.py 'sh examples/explorer.sh' sh examples/game.sh

Agent and game are programs, as in `loop.sh`, which stands beside this file and says what they read and print.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator

# The memory.
from memories import Memories, MemoriesError, Turn


def play(game: Game, agent: Agent, path: str) -> None:
    try:
        with Memories(path, session=True) as memories:
            memories.start_episode()
            for place, text in game:
                action = agent(known := f"{text}\n\n{memories.recall(place)}")
                if tried := memories.tried(place, action):
                    action = agent(f"{known}\nin vain: {action} ({tried.reply})")
                print(f"> {action}: {memories.record(Turn.from_json(game.step(action))).outcome}")
    except MemoriesError as error:
        sys.exit(f"error: {error}")


# The game and the agent.
class Game:
    """A program that speaks in lines."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self.program = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
        assert self.program.stdin and self.program.stdout
        self.actions, self.lines = self.program.stdin, self.program.stdout

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The place and what the player reads there, until the game is over."""
        while place := self.lines.readline().strip():
            yield place, self.lines.readline().strip()
        self.program.communicate()

    def step(self, action: str) -> dict[str, object]:
        """The turn that an action makes."""
        print(action, file=self.actions, flush=True)
        turn: dict[str, object] = json.loads(self.lines.readline())
        return turn


class Agent:
    """A program that reads what is known and prints an action."""

    def __init__(self, command: str) -> None:
        self.command = shlex.split(command)

    def __call__(self, known: str) -> str:
        asked = subprocess.run(self.command, input=known, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
        return asked.stdout.strip()


if __name__ == "__main__":
    play(Game(sys.argv[2:]), Agent(sys.argv[1]), "Memories.md")
