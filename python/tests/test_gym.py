"""The wrapper of text environments, with Gymnasium, TextWorld and Jericho themselves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import ROOT

from memories import Memories, MemoriesError, Place, Recorded, Turn
from memories.gym import Remembering

pytest.importorskip("gymnasium", reason="needs requirements-adapters.txt")
import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env


class Cave(gymnasium.Env[str, str]):
    """A hall with a lamp, and a cellar in which one dies without it."""

    observation_space = gymnasium.spaces.Text(200, min_length=0, charset=frozenset(map(chr, range(32, 127))))
    action_space = gymnasium.spaces.Text(20, charset="abcdefghijklmnopqrstuvwxyz ")
    rooms = (Place(1, "Hall"), Place(2, "Cellar"))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.room, self.has_lamp, self.score, self.died = 0, False, 0, False
        return "You are in a hall.", self.info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        before = self.score, self.room
        reply = "You can't do that."
        if action == "take lamp" and not self.has_lamp:
            reply, self.has_lamp, self.score = "Taken.", True, 5
        elif action == "down" and self.room == 0:
            reply, self.room, self.died = "You are in a cellar.", 1, not self.has_lamp
        elif action == "up" and self.room == 1:
            reply, self.room = "You are in a hall.", 0
        if self.died:
            reply = "You stumble in the dark and break your neck. You have died."
        return reply, float(self.score - before[0]), self.died, False, self.info()

    def info(self) -> dict[str, Any]:
        inventory = ["lamp"] if self.has_lamp else []
        return {"location": self.rooms[self.room], "score": self.score, "inventory": inventory, "died": self.died}


def play(env: Any, *actions: str) -> Any:
    """Plays one episode and gives the last answer."""
    answer = env.reset()
    for action in actions:
        answer = env.step(action)
    return answer


def test_steps_are_recorded_and_places_recalled(memories: Memories) -> None:
    env = Remembering(Cave(), memories)
    obs, info = env.reset()
    assert (obs, info["score"]) == ("You are in a hall.", 0)
    assert info["memories"] == "First visit - no prior experiences\n"
    obs, reward, terminated, truncated, info = env.step("take lamp")
    assert (obs, reward, terminated, truncated) == ("Taken.", 5.0, False, False)
    assert "[SUCCESS] Take lamp" in info["memories"] and "+5" in info["memories"]
    assert not env.tried("sing")
    *_, info = env.step("sing")
    assert "Tried here in vain: sing (You can't do that.)" in info["memories"]
    assert env.tried("sing").reply == "You can't do that."
    *_, info = env.step("down")
    assert info["memories"] == str(env.recall()) == str(memories.recall(2))
    assert [(way.action, way.to) for way in memories.recall(1).scopes[0].ways] == [("down", 2)]


def test_the_next_episode_knows_of_a_death(memories: Memories) -> None:
    env = Remembering(Cave(), memories)
    *_, terminated, _, _ = play(env, "down")
    assert terminated
    _, info = env.reset()
    assert "[DANGER] Fatal: " in info["memories"] and "break your neck (Ep1, T1)" in info["memories"]
    killed = memories.tried(1, "down")
    assert killed.verdict == "in_vain" and killed.deadly
    env.step("sing")
    assert memories.recall(1).scopes[0].episodes == (1, 2)


def test_a_reset_without_a_step_starts_no_episode(memories: Memories) -> None:
    env = Remembering(Cave(), memories)
    for _ in range(3):
        env.reset()
    env.step("sing")
    env.reset()
    env.reset()
    env.step("sing")
    assert memories.recall(1).scopes[0].episodes == (1, 2)


def test_it_is_a_wrapper_among_others(memories: Memories) -> None:
    inner: Any = gymnasium.make(EnvSpec("Cave-v0", entry_point=lambda **_: Cave(), max_episode_steps=2))
    env: Any = gymnasium.wrappers.RecordEpisodeStatistics(Remembering(inner, memories))
    assert gymnasium.Wrapper in type(env.env).__mro__ and isinstance(env.unwrapped, Cave)
    assert env.spec.id == "Cave-v0" and env.action_space == Cave.action_space
    *_, truncated, info = play(env, "sing", "take lamp")
    assert truncated and info["episode"]["r"] == 5.0 and "Take lamp" in info["memories"]
    assert env.get_wrapper_attr("has_lamp") is True
    assert not hasattr(env.env, "rooms") and env.env.get_wrapper_attr("rooms") == Cave.rooms
    env.set_wrapper_attr("has_lamp", False)
    assert env.unwrapped.has_lamp is False
    direct = Remembering(Cave(), memories)
    direct.set_wrapper_attr("rooms", (Place(3), Place(4)))
    direct.reset()
    assert direct.recall().scopes[0].scope == "location:3"


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped")
def test_gymnasium_finds_nothing_wrong(memories: Memories) -> None:
    env = Remembering(Cave(), memories)
    # What is known of a place grows, so no two runs are the same.
    env.unwrapped.spec = EnvSpec("Cave-v0", nondeterministic=True)
    check_env(env, skip_render_check=True, skip_close_check=True)


class Heard(Memories):
    """A memory that also keeps the turns as they came."""

    def record(self, turn: Turn | Mapping[str, Any], *, new_place: bool = False) -> Recorded:
        assert isinstance(turn, Turn)
        self.turns = [*getattr(self, "turns", ()), turn]
        return super().record(turn, new_place=new_place)

    @property
    def scores(self) -> list[tuple[int | None, int | None]]:
        return [(turn.score_before, turn.score_after) for turn in self.turns]


class Old:
    """An environment of the older gym, without base class, places or inventory."""

    name = "old"

    def reset(self) -> str:
        return "-= West of House =-\nA field."

    def step(self, action: str) -> tuple[str, float, bool, dict[str, Any]]:
        return f"You {action}.", 1.0 if action == "win" else 0.0, action == "win", {}


def test_an_older_environment(program: str, tmp_path: Path) -> None:
    memories = Heard(tmp_path / "Memories.md", program=program)
    env = Remembering(Old(), memories)
    assert env.reset() == "-= West of House =-\nA field."
    obs, reward, done, info = env.step("jump about")
    assert (obs, reward, done) == ("You jump about.", 0.0, False)
    assert env.tried("jump about").verdict == "unknown_effect"
    *_, info = env.step("win")
    assert memories.scores == [(None, None), (0, 1)], "a reward of 0 does not say that nothing changed"
    assert "(Ep1, T2, +1)" in info["memories"]
    assert "Location Memory for West of House (Location 1)" in info["memories"]
    assert env.name == "old" and not hasattr(env, "unwrapped")


def test_the_place_is_found_as_the_caller_says(memories: Memories) -> None:
    places = iter([7, "北の森", None, Place(9, "Nine"), "location:ten", "11", "Bob's House"])
    env = Remembering(Old(), memories, place=lambda env, obs, info: next(places))
    play(env, *"abcdef")
    sections = {section["scope"]: section["name"] for section in memories.run("list")["sections"]}
    names = list(sections.values())
    assert names[0] == "" and sections["location:9"] == "Nine" and "ten" in names
    assert [name for name in names if name.startswith("bob-s-house-")]
    assert [name for name in names if name.startswith("place-")], "a name of which no id can be made has one of its own"
    assert len(env.recall().text) > 0


def always_at(memories: Memories, place: Any) -> Remembering:
    return Remembering(Old(), memories, place=lambda env, obs, info: place)


def test_places_with_similar_names_are_different(memories: Memories) -> None:
    names = ["北 Room", "南 Room", "Room", "Höhle", "Hähle", "Room #1", "Room -1", "Room 1", "K1", "\u212a1", "x" * 70]
    scopes: set[str] = set()
    for name in names:
        env = always_at(memories, name)
        env.reset()
        assert env.tried("open door").verdict == "no", name
        env.step("open door")
        scopes.add(env.recall().scopes[0].scope)
    assert len(scopes) == len(names)


def test_what_ids_of_the_program_fold_is_one_place(memories: Memories) -> None:
    for name in ("West of House", "WEST of House", "West  of House", "location:west-of-house"):
        env = always_at(memories, name)
        play(env, "jump")
        assert env.recall().scopes[0].scope == "location:1"
    assert [section["name"] for section in memories.run("list")["sections"]] == ["West of House"]


@pytest.mark.parametrize("place", [1.5, float("nan"), float("inf"), (0, 1), b"3"])
def test_what_is_no_place_is_refused(memories: Memories, place: Any) -> None:
    with pytest.raises(ValueError, match="a place is a whole number, a `Place` or a name, and not "):
        always_at(memories, place).reset()
    env = always_at(memories, 2.0)
    env.reset()
    assert env.recall().scopes[0].scope == "location:2"


def test_an_unknown_place_is_said_before_the_game(memories: Memories) -> None:
    env = Remembering(Old(), memories, place=lambda env, obs, info: None)
    with pytest.raises(ValueError, match="give `place=`"):
        env.reset()
    with pytest.raises(RuntimeError, match="reset"):
        env.step("x")


def test_the_game_goes_on_where_memory_fails(program: str, tmp_path: Path) -> None:
    file = tmp_path / "Memories.md"
    env = Remembering(Cave(), Memories(file, program=program))
    env.reset()
    file.write_bytes(b"\xff")
    with pytest.warns(RuntimeWarning, match="memory failed, and the game goes on: .*UTF-8"):
        obs, *_, info = env.step("take lamp")
    assert obs == "Taken." and info["memories"] == "" and "UTF-8" in info["memories_error"]
    file.unlink()
    *_, info = env.step("down")
    assert info["memories"].endswith("First visit - no prior experiences\n") and "memories_error" not in info


class Told(Cave):
    """A cave of which the test says what stands in the second step's info, and its reward."""

    steps = 0

    def __init__(self, **news: Any) -> None:
        self.news = news

    def step(self, action: str) -> Any:
        obs, reward, over, cut, info = super().step(action)
        self.steps += 1
        news = self.news if self.steps == 2 else {}
        return obs, news.get("reward", reward), over, cut, info | news


@pytest.mark.parametrize("news", [{"score": "n/a"}, {"reward": None}, {"location": (0, 1)}, {"inventory": 5}])
def test_the_game_goes_on_where_a_step_cannot_be_read(memories: Memories, news: dict[str, Any]) -> None:
    env = Remembering(Told(**news), memories)
    play(env, "take lamp")
    with pytest.warns(RuntimeWarning, match="memory failed, and the game goes on: (Type|Value)Error: "):
        obs, *_, info = env.step("down")
    assert obs == "You are in a cellar." and info["memories"] == "" and "Error: " in info["memories_error"]
    for ask in (env.recall, lambda: env.tried("up")):
        with pytest.raises(MemoriesError, match="not known where the player is"):
            ask()
    with pytest.warns(RuntimeWarning, match="not known where this one began"):
        env.step("sing")
    *_, info = env.step("up")
    assert "memories_error" not in info and memories.recall(1).scopes[0].ways == ()
    assert [(way.action, way.to) for way in memories.recall(2).scopes[0].ways] == [("up", 1)]
    strict = Remembering(Told(**news), memories, strict=True)
    play(strict, "take lamp")
    with pytest.raises((TypeError, ValueError)):
        strict.step("down")
    strict.reset()
    assert strict.recall().scopes[0].scope == "location:1"


def test_a_place_that_was_lost_is_not_the_one_before(memories: Memories) -> None:
    places = iter([1, (0, 1), None, 2])
    env = Remembering(Old(), memories, place=lambda env, obs, info: next(places))
    env.reset()
    for reason in ("a place is", "does not say where the player is", "where this one began"):
        with pytest.warns(RuntimeWarning, match=reason):
            env.step("jump")
    assert env.recall().scopes[0].scope == "location:2"


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("lamp, sword", ["lamp", "sword"]),
        ("a lamp", ["lamp"]),
        ("You are carrying: a lamp, an egg, and some rope.", ["lamp", "egg", "rope"]),
        ("You are carrying a lamp and the sword.", ["lamp", "sword"]),
        ("You are carrying:\n  A brass lamp\n  A sword\n", ["brass lamp", "sword"]),
        ("You are carrying nothing.", []),
        ("You are empty-handed.", []),
        ("You don't have anything, sorry.", []),
        ("Nothing", []),
        ("", []),
    ],
)
def test_an_inventory_may_be_a_text(program: str, tmp_path: Path, text: str, items: list[str]) -> None:
    memories = Heard(tmp_path / "Memories.md", program=program)
    play(Remembering(Told(inventory=text), memories), "sing", "sing")
    assert memories.turns[-1].inventory_after == items


def test_a_strict_wrapper_raises(program: str, tmp_path: Path) -> None:
    file = tmp_path / "Memories.md"
    env = Remembering(Cave(), Memories(file, program=program), strict=True)
    env.reset()
    file.write_bytes(b"\xff")
    with pytest.raises(MemoriesError, match="UTF-8"):
        env.step("take lamp")
    with pytest.raises(MemoriesError, match="UTF-8"):
        Remembering(Cave(), Memories(file, program=program)).reset()


def test_a_session_remembers_the_same(program: str, tmp_path: Path) -> None:
    files: list[str] = []
    for session in (False, True):
        file = tmp_path / f"session-{session}.md"
        with Memories(file, session=session, program=program) as memories:
            env = Remembering(Cave(), memories)
            play(env, "sing", "take lamp", "down", "up")
            play(env, "down")
        files.append(file.read_text())
    assert files[0] == files[1] and "### Ways" in files[0]


def test_gymnasium_may_be_missing(program: str, tmp_path: Path) -> None:
    source = f"""
import sys
sys.modules["gymnasium"] = None
from memories import Memories
from memories.gym import Remembering
class Env:
    def reset(self): return "", {{"location": 3}}
    def step(self, action): return "No.", 0, False, {{"location": 3, "score": 0}}
env = Remembering(Env(), Memories("M.md", program={program!r}))
env.reset()
print(env.step("go")[3]["memories"])
"""
    command = [sys.executable, "-c", source]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True
    )
    assert "go" in done.stdout, done.stderr


# TextWorld and Jericho warn, of their own dependencies too.
foreign = pytest.mark.filterwarnings("ignore")
REASON = "needs requirements-games.txt"


class Game(NamedTuple):
    """A game that TextWorld made for the Z-machine, what wins it, and the names of its rooms, in lower case."""

    file: str
    solution: list[str]
    rooms: set[str]


@pytest.fixture(scope="session")
def game(tmp_path_factory: pytest.TempPathFactory) -> Game:
    textworld: Any = pytest.importorskip("textworld", reason=REASON)
    options = textworld.GameOptions()
    options.path = str(tmp_path_factory.mktemp("game") / "game.z8")
    options.nb_rooms, options.nb_objects, options.quest_length, options.seeds = 3, 5, 3, 7
    file, made = textworld.make(options)
    return Game(file, list(made.metadata["walkthrough"]), {made.infos[room.id].name for room in made.world.rooms})


def explored(env: Any, game: Game) -> Any:
    """Walks to and fro, does what is impossible, and wins."""
    ways = [("north", "south"), ("east", "west"), ("south", "north"), ("west", "east")]
    env.reset()
    for there, back in ways:
        place = env.recall().scopes[0].scope
        env.step(f"go {there}")
        if env.recall().scopes[0].scope != place:
            env.step(f"go {back}")
    env.step("eat ceiling")
    return [env.step(action) for action in game.solution][-1]


def worked(memories: Memories, place: str) -> set[str]:
    return {attempt.action for attempt in memories.recall(place, max_tokens=2000).scopes[0].worked}


@foreign
def test_textworld_by_start(game: Game, memories: Memories) -> None:
    textworld: Any = pytest.importorskip("textworld", reason=REASON)
    env = Remembering(textworld.start(game.file, textworld.EnvInfos(inventory=True, facts=True)), memories)
    state, score, done = explored(env, game)
    assert (score, done) == (1, True) and state["memories"] == str(env.recall())
    (section,) = env.recall().scopes
    assert len(section.ways) > 0 and {way.name.lower() for way in section.ways} | {section.name.lower()} <= game.rooms
    assert {attempt.action for attempt in section.worked} == set(game.solution), "the facts say what changed the world"
    assert section.memories[-1].score_change == 1 and env.tried("eat ceiling")


@foreign
def test_textworld_by_gym(game: Game, memories: Memories) -> None:
    textworld: Any = pytest.importorskip("textworld.gym", reason=REASON)
    env = Remembering(textworld.make(textworld.register_game(game.file)), memories)
    _, score, done, info = explored(env, game)
    assert (score, done) == (1, True) and info["memories"] == str(env.recall())
    (section,) = env.recall().scopes
    assert {way.name.lower() for way in section.ways} | {section.name.lower()} <= game.rooms
    assert {attempt.action for attempt in section.worked} == set(game.solution), "the replies say what was done"
    assert section.memories[-1].score_change == 1 and env.tried("eat ceiling")
    assert ">" not in env.tried("eat ceiling").reply, "the line of the prompt is no part of the reply"


@foreign
def test_jericho_with_a_game_that_it_does_not_know(game: Game, program: str, tmp_path: Path) -> None:
    jericho: Any = pytest.importorskip("jericho", reason=REASON)
    memories = Heard(tmp_path / "Memories.md", program=program)
    env = Remembering(jericho.FrotzEnv(game.file), memories)
    *_, info = explored(env, game)
    assert info["score"] == 0 and info["memories"] == str(env.recall())
    (section,) = env.recall().scopes
    assert len(section.ways) > 0 and section.name.lower() in game.rooms
    assert {attempt.action for attempt in section.worked} == set(game.solution), "the replies say what was done"
    assert [memory.score_change for memory in section.memories] == [None], "what the refrigerator held, and no points"
    assert set(memories.scores) == {(None, None)}, "a score that is always 0 proves nothing"
    assert env.tried(game.solution[-1]).verdict == "worked" and env.tried("eat ceiling").verdict == "in_vain"


@foreign
def test_jericho_with_the_objects_of_a_game(game: Game, memories: Memories) -> None:
    jericho: Any = pytest.importorskip("jericho", reason=REASON)

    def thing(number: int, name: str) -> Any:
        made = jericho.ZObject()
        made.num, made._name = number, name.encode()
        return made

    class Known(jericho.FrotzEnv):  # type: ignore[misc] # The package has no types.
        """The emulator, as it is with a game whose objects it knows; here the test knows them."""

        is_fully_supported = property(lambda self: True, lambda self, value: None)
        done: tuple[str, ...] = ()

        def step(self, action: str) -> Any:
            text, reward, over, info = jericho.FrotzEnv.step(self, action)
            self.done += (action,) if "You can't" not in text else ()
            return text, reward, over, {**info, "score": 10 * len(self.get_inventory())}

        def get_player_location(self) -> Any:
            return thing(193, "Living Room")

        def get_inventory(self) -> list[Any]:
            return [thing(7, "teapot")] * (self.done == tuple(game.solution[:2]))

        def get_world_state_hash(self) -> str:
            return str(self.done)

        def game_over(self) -> bool:
            return self.done == tuple(game.solution)

    env = Remembering(Known(game.file), memories)
    play(env, "eat ceiling", *game.solution[:2])
    assert env.recall().scopes[0].name == "Living Room" and env.recall().scopes[0].scope == "location:193"
    assert worked(memories, "193") == set(game.solution[:2]) and "+10" in str(env.recall())
    assert env.tried("eat ceiling").verdict == "in_vain"
    *_, info = env.step(game.solution[2])
    assert "[DANGER]" in info["memories"]
