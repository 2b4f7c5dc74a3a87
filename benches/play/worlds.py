"""The games as `World`s: TextWorld-Express, ScienceWorld, TextWorld and Jericho, and which of them can be played.

A package that is missing leaves out its worlds. Each seed is another game of the kind: another house, another task.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from house import House
from state import State, World

COMPASS = ("north", "east", "south", "west")
#: Steps after which a package would end an episode by itself; the bench ends it before.
LIMIT = 100_000


class Express:
    """TextWorld-Express. Its admissible commands are those that it gives with each step."""

    verbs: tuple[str, ...] = ()
    directions: tuple[str, ...] = tuple(f"move {way}" for way in COMPASS)
    best = 100
    rooms = "includeDoors=1, limitInventorySize=0, numDistractorItems="
    kinds: ClassVar = {
        "cookingworld": f"numLocations=6, numIngredients=3, {rooms}5",
        "coin": f"numLocations=10, {rooms}5",
    }

    def __init__(self, kind: str, seed: int) -> None:
        self.name, self.seed = f"express-{kind}", seed
        self.env: Any = importlib.import_module("textworld_express").TextWorldExpressEnv(envStepLimit=LIMIT)
        self.env.load(gameName=kind, gameParams=self.kinds[kind])
        # It walks by chance, another way each time.
        self.solution: Sequence[str] = min((self._solution() for _ in range(40)), key=lambda steps: (len(steps), steps))

    def _solution(self) -> list[str]:
        self.start()
        return list(self.env.getGoldActionSequence())

    def start(self) -> State:
        reply, info = self.env.reset(seed=self.seed, gameFold="train", generateGoldPath=True)
        return self._state(reply, info)

    def do(self, action: str) -> State:
        reply, _, _, info = self.env.step(action)
        return self._state(reply, info)

    def _state(self, reply: str, info: dict[str, Any]) -> State:
        room = re.search(r"in (?:the |a |an )?([a-z ]+?)[.,]", info["look"])
        place, score = room[1] if room else "somewhere", round(100 * info["score"])
        carried = lines(info["inventory"])
        mark = (place, score, info["look"], info["inventory"])
        commands = tuple(sorted(info["validActions"]))
        return State(reply, place, score, carried, mark, commands, info["taskfailure"], info["tasksuccess"])


class Science:
    """ScienceWorld, at its level `easy`. It can name admissible commands, but up to 1,400 of them in 0.15 s a turn: the
    reader gets some of its verbs instead."""

    directions: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ("go to", "pick up", "focus on", "move", "activate")
    best = 100

    def __init__(self, task: str, seed: int) -> None:
        self.name = f"science-{task}"
        self.env: Any = importlib.import_module("scienceworld").ScienceWorldEnv("", envStepLimit=LIMIT)
        self.env.load(task, seed, "easy", generateGoldPath=True)
        self.solution: Sequence[str] = list(self.env.get_gold_action_sequence())

    def start(self) -> State:
        self.env.reset()
        return self._state(self.env.look())

    def do(self, action: str) -> State:
        # Not `env.step`, which lists all admissible commands.
        reply = self.env.server.step(action)
        # It asks for a number before it does anything else.
        return self._state(self.env.server.step("0") if reply.startswith("Ambiguous request") else reply)

    def _state(self, reply: str) -> State:
        look, carried = self.env.look(), lines(self.env.inventory())
        score = round(100 * self.env.server.getScore())
        room = re.search(r"called the ([a-z ]+)\.", look)
        place = room[1] if room else "outside"
        is_over = self.env.server.getCompleted() or score < 0
        won = is_over and score >= self.best
        return State(reply, place, score, carried, (place, score, look, carried), (), is_over and not won, won)


class TextWorld:
    """A game that TextWorld makes. Its admissible commands are those that it gives with each step."""

    verbs: tuple[str, ...] = ()
    directions: tuple[str, ...] = tuple(f"go {way}" for way in COMPASS)
    kinds: ClassVar = {
        "tw-cooking": ["--recipe=2", "--take=2", "--go=9", "--open", "--cook", "--cut"],
        "tw-simple": ["--rewards=dense", "--goal=detailed"],
    }

    def __init__(self, kind: str, seed: int) -> None:
        textworld: Any = importlib.import_module("textworld")
        self.name = f"textworld-{kind.removeprefix('tw-')}"
        file, self.game = make_game(kind, seed)
        self.best: int = self.game.max_score
        self.solution: Sequence[str] = list(self.game.metadata["walkthrough"])
        wanted = ("facts", "admissible_commands", "score", "won", "lost")
        self.env = textworld.start(file, textworld.EnvInfos(**dict.fromkeys(wanted, True)))

    def start(self) -> State:
        state = self.env.reset()
        return self._state(state, state.feedback[state.feedback.find("-= ") :])

    def do(self, action: str) -> State:
        return self._state(self.env.step(action)[0])

    def _state(self, state: Any, reply: str | None = None) -> State:
        reply = str(reply or state.feedback).partition("\n>")[0].strip()
        places = self._named(1, [fact.arguments for fact in state.facts if fact.name == "at"], 0, "P")
        carried = self._named(0, [fact.arguments for fact in state.facts if fact.name == "in"], 1, "I")
        mark = (state.score, frozenset(map(str, state.facts)))
        commands, died, won = tuple(state.admissible_commands), bool(state.lost), bool(state.won)
        return State(reply, places[0], state.score, carried, mark, commands, died, won)

    def _named(self, thing: int, pairs: list[Any], owner: int, kind: str) -> tuple[str, ...]:
        """The names of what stands beside the player (`P`) or its inventory (`I`) in facts of two arguments."""
        return tuple(sorted(pair[thing].name for pair in pairs if pair[owner].type == kind))


class Jericho:
    """A story file by Jericho. The reader gets no admissible commands: finding them takes seconds a turn."""

    verbs: tuple[str, ...] = ()
    directions: tuple[str, ...] = (*COMPASS, *"northeast southeast southwest northwest up down in out".split())

    def __init__(self, file: str, seed: int) -> None:
        self.name = f"jericho-{Path(file).stem}"
        self.env: Any = importlib.import_module("jericho").FrotzEnv(file, seed=seed)
        self.best = self.env.get_max_score()
        known = self.env.is_fully_supported
        self.solution: Sequence[str] = list(self.env.get_walkthrough() or []) if known else []

    def start(self) -> State:
        reply, _ = self.env.reset()
        return self._state(reply)

    def do(self, action: str) -> State:
        return self._state(self.env.step(action)[0])

    def _state(self, reply: str) -> State:
        if self.env.is_fully_supported:
            place: str = self.env.get_player_location().name
            carried = tuple(sorted(one.name for one in self.env.get_inventory()))
            mark = self.env.get_world_state_hash()
        else:
            look, inventory = self._peek("look"), self._peek("inventory")
            place, carried = look.partition("\n")[0].strip("-= "), lines(inventory)
            mark = (look, inventory)
        died, won, score = self.env.game_over(), self.env.victory(), self.env.get_score()
        return State(reply.partition("\n>")[0].strip(), place, score, carried, mark, (), died, won)

    def _peek(self, action: str) -> str:
        """What a command would answer. Of a game that Jericho does not know, this is all that there is."""
        state = self.env.get_state()
        reply: str = self.env.step(action)[0]
        self.env.set_state(state)
        return reply.partition("\n>")[0].strip()


def lines(inventory: str) -> tuple[str, ...]:
    """What is carried: the lines behind the first."""
    return tuple(line.strip() for line in inventory.splitlines()[1:] if line.strip() and "empty" not in line)


@functools.cache
def folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="placebench")


def make_game(kind: str, seed: int) -> tuple[str, Any]:
    """A game of one of TextWorld's challenges, made for the Z-machine."""
    textworld: Any = importlib.import_module("textworld")
    challenges: Any = importlib.import_module("textworld.challenges").CHALLENGES
    parser = argparse.ArgumentParser()
    _, make, add_arguments = challenges[kind]
    add_arguments(parser)
    options = textworld.GameOptions()
    options.seeds, options.path = seed, f"{folder().name}/{kind}-{seed}.z8"
    game = make(vars(parser.parse_args(TextWorld.kinds[kind])), options)
    return textworld.generator.compile_game(game, options), game


def available(stories: Path | None) -> tuple[dict[str, Callable[[int], World]], list[str]]:
    """The worlds by name, and a sentence for each package that is missing."""
    worlds: dict[str, Callable[[int], World]] = {"house": lambda seed: House()}
    missing: list[str] = []

    def add(package: str, distribution: str, made: dict[str, Callable[[int], World]], needs_java: bool = False) -> None:
        if importlib.util.find_spec(package) is None:
            missing.append(f"{', '.join(made)}: skipped, there is no `{package}` (pip install {distribution})")
        elif needs_java and shutil.which("java") is None:
            missing.append(f"{', '.join(made)}: skipped, `java` is not on the path")
        else:
            worlds.update(made)

    express = {f"express-{kind}": functools.partial(Express, kind) for kind in Express.kinds}
    add("textworld_express", "textworld-express", dict(express), needs_java=True)
    tasks = ("use-thermometer",)
    science = {f"science-{task}": functools.partial(Science, task) for task in tasks}
    add("scienceworld", "scienceworld", dict(science), needs_java=True)
    made = {f"textworld-{kind.removeprefix('tw-')}": functools.partial(TextWorld, kind) for kind in TextWorld.kinds}
    add("textworld", "textworld", dict(made))
    if stories:
        files = sorted(file for file in stories.iterdir() if re.fullmatch(r"\.z\d", file.suffix))
        jericho = {f"jericho-{file.stem}": functools.partial(Jericho, str(file)) for file in files}
        add("jericho", "jericho", dict(jericho))
    return worlds, missing
