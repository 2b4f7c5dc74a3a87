"""Episodes: played with a memory, recorded before it, and won to see what a memory forbids."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from notebooks import Nothing
from reader import Reader, Reading, read
from state import State, Turn, World


@dataclass
class Episode:
    """What happened in an episode. `score` is a share of what can be had, first reached at `best_turn`.

    `first`, `half` and `whole` are the turns to these points, and None if never. `recorded` is the best score of the
    episodes that were inherited, and `forbidden` of the working steps of the `solution` are those spoken against.
    """

    world: str
    memory: str
    seed: int
    kind: str
    episode: int
    turns: int = 0
    repeats: int = 0
    tokens: int = 0
    score: float = 0
    best_turn: int = 0
    first: int | None = None
    half: int | None = None
    whole: int | None = None
    recorded: float = 0
    solution: int = 0
    forbidden: int = 0

    def reach(self, turn: int, share: float) -> None:
        self.turns = turn
        if share > self.score:
            self.score, self.best_turn = share, turn
        self.first = self.first or (turn if share > 0 else None)
        self.half = self.half or (turn if share >= 0.5 else None)
        self.whole = self.whole or (turn if share >= 1 else None)


class Game:
    """A world, one memory of it, and what has failed in it so far."""

    def __init__(self, world: World, memory: Nothing, name: str, seed: int) -> None:
        self.world, self.memory, self.name, self.seed = world, memory, name, seed
        self.failed: set[tuple[str, str]] = set()
        self.number = 0
        self.start = world.start().score

    def play(self, kind: str, turns: int, chance: random.Random) -> Episode:
        self.number += 1
        result = Episode(self.world.name, self.name, self.seed, kind, self.number)
        reader = Reader(chance, self.world.directions, self.world.verbs)
        self.memory.begin()
        state = self.world.start()

        def ask(action: str) -> Reading:
            return self._reading(result, state.place, self.memory.about(state.place, action))

        while result.turns < turns and not state.is_over:
            reading = self._reading(result, state.place, self.memory.text(state.place))
            action = reader.choose(state, reading, ask)
            turn = Turn(self.number, result.turns + 1, state, action, self.world.do(action))
            reader.learn(turn)
            result.repeats += turn.has_failed and (state.place, action) in self.failed
            self.tell(turn)
            state = turn.after
            result.reach(turn.number, self.share(state.score))
        return result

    def share(self, score: int) -> float:
        """A score as a share of what can be had from the start."""
        return (score - self.start) / max(1, self.world.best - self.start)

    def _reading(self, result: Episode, place: str, text: str) -> Reading:
        result.tokens += len(text) // 4
        return read(text, place)

    def tell(self, turn: Turn) -> None:
        self.memory.tell(turn)
        if turn.has_failed:
            self.failed.add((turn.before.place, turn.action))

    def inherit(self, episodes: list[list[Turn]]) -> None:
        for turns in episodes:
            self.number += 1
            self.memory.begin()
            for turn in turns:
                self.tell(turn)

    def win(self, result: Episode) -> None:
        """Plays the solution, and counts the steps that change something and that the memory speaks against."""
        self.number += 1
        self.memory.begin()
        state = self.world.start()
        for number, action in enumerate(self.world.solution, 1):
            if state.is_over:
                break
            avoid = read(self.memory.text(state.place), state.place).avoid
            avoid |= read(self.memory.about(state.place, action), state.place).avoid
            turn = Turn(self.number, number, state, action, self.world.do(action))
            result.solution += turn.has_changed
            result.forbidden += turn.has_changed and action in avoid
            self.memory.tell(turn)
            state = turn.after


def recorded(world: World, turns: int, seed: int, episodes: int) -> list[list[Turn]]:
    """Noisy episodes: a player who knows the solution is distracted in half of the turns, and explores by chance.

    It goes on with the solution whenever it is at the place where the next step belongs.
    """
    places = [state.place for state in walk(world)]
    played: list[list[Turn]] = []
    for episode in range(1, episodes + 1):
        chance = random.Random(f"recorded {world.name} {seed} {episode}")
        reader = Reader(chance, world.directions, world.verbs)
        state, step, log = world.start(), 0, list[Turn]()
        while len(log) < turns and not state.is_over:
            is_on = step < len(places) and state.place == places[step] and chance.random() < 0.5
            action = world.solution[step] if is_on else reader.choose(state, Reading(), lambda _: Reading())
            step += is_on
            log.append(Turn(episode, len(log) + 1, state, action, world.do(action)))
            reader.learn(log[-1])
            state = log[-1].after
        played.append(log)
    return played


def walk(world: World) -> list[State]:
    """The states in which the steps of the solution are done."""
    states = [world.start()]
    for action in world.solution:
        states.append(world.do(action))
        if states[-1].is_over:
            break
    return states[:-1]


def run(
    world: World, memories: dict[str, Callable[[Path], Nothing]], seed: int, episodes: int, turns: int
) -> list[Episode]:
    """All memories in one world: cold episodes one after the other, and one episode with an inherited memory."""
    results: list[Episode] = []
    inherited = recorded(world, turns, seed, 5) if world.solution else []
    for name, make in memories.items():
        with tempfile.TemporaryDirectory(prefix="placebench") as folder:
            game = Game(world, make(Path(folder)), name, seed)
            for episode in range(1, episodes + 1):
                results.append(game.play("cold", turns, random.Random(f"{world.name} {seed} {episode}")))
            game.memory.close()
        if not inherited:
            continue
        with tempfile.TemporaryDirectory(prefix="placebench") as folder:
            game = Game(world, make(Path(folder)), name, seed)
            game.inherit(inherited)
            results.append(game.play("inherited", turns, random.Random(f"{world.name} {seed} inherited")))
            results[-1].recorded = game.share(max(turn.after.score for played in inherited for turn in played))
            game.win(results[-1])
            game.memory.close()
    return results
