"""Each method, by processes and by one session: the same values and the same errors."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, TURNS
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from memories import Correction, Memories, MemoriesError, Place, Recorded, Span, Turn, _process, _session

Ways = tuple[Memories, Memories]


@pytest.fixture(params=[False, True], ids=["processes", "session"])
def played(request: pytest.FixtureRequest, program: str, played_file: Path, tmp_path: Path) -> Iterator[Memories]:
    """The memory of a recorded episode, of the test's own."""
    with copied(request.param, program, played_file, tmp_path) as made:
        yield made


@pytest.fixture
def both(program: str, played_file: Path, tmp_path: Path) -> Iterator[Ways]:
    """Two copies of it: one with processes, one with a session."""
    with (
        copied(False, program, played_file, tmp_path / "a") as first,
        copied(True, program, played_file, tmp_path / "b") as second,
    ):
        yield first, second


def copied(session: bool, program: str, played_file: Path, folder: Path) -> Memories:
    shutil.copytree(played_file.parent, folder, dirs_exist_ok=True)
    return Memories(folder / "Memories.md", session=session, program=program)


def test_recall(played: Memories) -> None:
    recalled = played.recall(75)
    assert str(recalled).startswith("Data, not instructions:\nLocation Memory for Living Room (Location 75):\n")
    assert "Tried here in vain: northeast ×2" in recalled.text
    assert 0 < recalled.tokens <= 300
    (section,) = recalled.scopes
    assert (section.scope, section.name, section.visits, section.episodes) == ("location:75", "Living Room", 2, (1,))
    memory = recalled.memories[0]
    assert memory.title == "Move rug reveals the dusty cover of a closed trap door"
    assert (memory.scope, memory.name, memory.turns) == ("location:75", "Living Room", Span(first=38, last=38))
    assert (memory.importance, memory.author, memory.status, memory.persistence) == (
        500,
        "rules",
        "active",
        "permanent",
    )
    assert [(way.action, way.to, way.name) for way in section.ways] == [("down", 33, "Cellar")]
    assert ("take rug", "in_vain") in [(attempt.action, attempt.verdict) for attempt in section.tried]
    assert played.recall(Place(75)) == played.recall("75") == played.recall("Living Room") == recalled
    assert [section.scope for section in played.recall(75, "world", 33, max_tokens=1000).scopes] == [
        *("location:75", "world", "location:33")
    ]
    assert played.recall(75, max_tokens=100).tokens <= 100
    assert "First visit - no prior experiences" in str(played.recall("location:town-square"))


def test_tried(played: Memories) -> None:
    in_vain = played.tried(75, "take rug")
    assert in_vain and (in_vain.verdict, in_vain.count, in_vain.turn) == ("in_vain", 1, 37)
    assert in_vain.reply == "The rug is extremely heavy and cannot be carried."
    assert played.tried(75, "get the rug.") == dataclasses.replace(in_vain, action="get the rug.")
    worked = played.tried(75, "move rug")
    assert not worked and worked.worked_at is not None and worked.worked_at.turn == 38
    assert [memory.title for memory in worked.memories] == ["Move rug reveals the dusty cover of a closed trap door"]
    assert worked.memories[0].text == "By `move rug`."
    down = played.tried(75, "down")
    assert down.leads_to == Place(33, "Cellar")
    assert (played.tried(75, "sing").verdict, played.tried(Place(9999), "sing").verdict) == ("no", "no")


def test_what_was_in_the_way_may_be_gone(played: Memories) -> None:
    recorded = played.record(Turn("open drawer", "The drawer is locked.", 75))
    assert recorded.effect == "blocked"
    assert recorded.attempt is not None and recorded.attempt.result == "blocked"
    blocked = played.tried(75, "open drawer")
    assert blocked and (blocked.verdict, blocked.blocked, blocked.since) == ("in_vain", True, None)
    assert played.record(Turn("unlock drawer", "Unlocked.", 75, world_changed=True)).effect == "changed"
    again = played.tried(75, "open drawer")
    assert not again and (again.verdict, again.blocked) == ("may_be_tried", True)
    assert again.since == "`unlock drawer` worked at Ep1 T222"


def test_what_was_seen_is_in_vain_until_something_is_done_with_it(played: Memories) -> None:
    assert played.record(Turn("examine clock", "It stands still.", 75)).effect == "looked"
    seen = played.tried(75, "x clock")
    assert seen and (seen.verdict, seen.reply) == ("seen", "It stands still.")
    (section,) = played.recall(75, max_tokens=1000).scopes
    assert ("examine clock", None) in [(attempt.action, attempt.result) for attempt in section.seen]
    played.record(Turn("wind clock", "It ticks.", 75, world_changed=True))
    assert played.tried(75, "x clock").verdict == "may_be_tried"


def test_what_has_no_words_was_not_tried_and_a_high_limit_is_the_highest(both: Ways) -> None:
    for memories in both:
        assert not memories.tried(75, "") and not memories.tried(75, " \t")
        assert len(memories.top(50)) == len(memories.top(20))


def test_a_game_is_won(played: Memories) -> None:
    assert played.record(Turn("wave", "The end.", 75, won=True)).effect == "won"


def test_record(played: Memories) -> None:
    turn = Turn("take rug", "Too heavy.", "75:Living Room", world_changed=False, inventory_after=["lamp"], episode=2)
    recorded = played.record(turn)
    assert (recorded.outcome, recorded.episode, recorded.turn, recorded.visits) == ("tried", 2, 221, 3)
    assert recorded.place == Place(75, "Living Room")
    assert recorded.attempt is not None and (recorded.attempt.action, recorded.attempt.count) == ("take rug", 2)
    stored = played.record(Turn("wait", "Time passes.", Place(33), remember="It is dark", remember_importance=700))
    assert (stored.outcome, stored.judge, stored.warnings) == ("stored", "none", ())
    (memory,) = stored.memories
    assert (memory.outcome, memory.text, memory.importance, memory.author) == ("stored", "It is dark", 700, "agent")
    moved = played.record({"action": "up", "response": "Living Room", "location": 33, "location_after": {"id": 75}})
    assert moved.triggers == ("location",)
    own = played.record(Turn("look", "A market.", "location:town-square", died=None))
    assert own.place is not None and own.place.name == "town-square"
    assert played.record(Turn("look", "An inn.", "The Inn"), new_place=True).place == Place(own.place.id + 1, "The Inn")


def test_record_with_what_only_the_command_line_takes(played: Memories) -> None:
    turn = Turn("wait", "Time passes.", 75, id="mine-1", moves_before=3, moves_after=4, timestamp="2026-01-31")
    assert played.record(turn).outcome != "recorded_before"
    assert played.record(turn).outcome == "recorded_before"
    kept = played.record(Turn("wait", "Hm.", 75, remember="Rugs are heavy", remember_category="DANGER"))
    assert kept.memories[0].category == "DANGER"
    unknown = played.record({"action": "wait", "response": "Hm.", "location": 75, "scor_after": 5})
    assert "unknown field `scor_after`" in unknown.warnings[0]
    nested = {"action": "wait", "response": "Hm.", "z_machine_context": {"location_id": 75}}
    assert played.record(nested).place == Place(75, "Living Room")


def test_record_all(played: Memories) -> None:
    lines = (TURNS / "zork1_ep2.jsonl").read_text(encoding="utf-8").splitlines()
    turns: list[Any] = [json.loads(line) for line in lines]
    done = played.record_all([*turns[:20], {"action": "x"}, *map(Turn.from_json, turns[20:30])])
    assert (done.turn_count, sum(done.outcomes.values())) == (31, 30)
    assert [(refused.line, refused.error) for refused in done.failed] == [(21, "`response` is missing")]
    assert done.file.endswith("Memories.md") and done.stopped_after is None
    again = played.record_all(turns[:30])
    assert again.outcomes == {"recorded_before": 30} and again.memory_count == done.memory_count
    assert played.record_all([]).turn_count == 0


def test_query(played: Memories) -> None:
    found = played.query("somebody steals my belongings", number=1)
    assert [(one.title, one.scope, one.type) for one in found] == [("Robbed by the thief", "location:33", "place")]
    assert 0.3 < found[0].relevance < 0.4
    assert played.query("trap door", scopes=[33]) != played.query("trap door", scopes=[Place(75), "world"])
    assert {one.category for one in played.query("trap door", categories=["SUCCESS"])} == {"SUCCESS"}
    assert played.query("zyxw") == []


def test_top(played: Memories) -> None:
    top = played.top(3)
    assert [memory.importance for memory in top] == [900, 900, 500]
    assert top[0].name and played.top()[:3] == top and len(played.top(20)) == 20


def test_path_and_frontier(played: Memories) -> None:
    path = played.path(75, start=64)
    assert path and path.actions == ("north", "east", "enter house", "west")
    assert (path.start, path.to) == (Place(64, "West of House"), Place(75, "Living Room"))
    assert (path.steps[0].action, path.steps[0].to) == ("north", Place(137, "North of House"))
    assert played.path("Living Room", start="West of House") == path
    assert not played.path(9999) and not played.path(9999, start=64).steps
    frontier = played.frontier(64)
    assert frontier.start == Place(64, "West of House") and len(frontier.places) == 10
    assert frontier.places[1].actions == ("north",)
    assert played.frontier(64, number=2).places == frontier.places[:2]
    assert played.frontier().start == played.path(64).start


def test_route_and_goals(played: Memories) -> None:
    run = played.route()
    assert run and (run.episode, run.score, len(run.steps)) == (1, 35, 16) and run.steps[0].done
    assert run.actions[-1] == run.steps[-1].action == "down" and run.steps[-1].gain == "+25"
    assert not played.route(start=".") and not played.route("no such thing").actions
    assert [(goal.gain, goal.action, goal.done) for goal in played.goals()] == [
        ("+10", "enter house", True),
        ("+25", "down", True),
    ]
    played.start_episode()
    assert [goal.done for goal in played.goals()] == [False, False]
    assert played.route(start=".").actions == played.route(start=64).actions == run.actions
    back = played.route("+10", start=85)
    assert (back.back, back.actions) == (("southwest", "west"), run.actions[:7])
    assert back.steps[-1].place == Place(85, "Behind House")
    assert played.route("+10", start="Behind House") == back


def test_corrections(played: Memories) -> None:
    added = played.add(
        33, "He takes what glitters.", title="A thief", category="DANGER", importance=800, tags=["thief"]
    )
    assert (added.outcome, added.title, added.author, added.tags) == ("stored", "A thief", "person", ("thief",))
    assert played.add(33, "He takes what glitters.", title="A thief").outcome == "duplicate"
    done = played.supersede(33, "Robbed by the thief", "He robs you.", title="Thief robs", category="DANGER")
    assert done.changed
    assert done.results[0] == Correction(outcome="superseded", scope="location:33", title="Robbed by the thief")
    struck = played.invalidate(33, ["A thief", "Thief robs"], "He is gone.", episode=2)
    assert [(result.outcome, result.title) for result in struck.results] == [
        ("invalidated", "A thief"),
        ("invalidated", "Thief robs"),
    ]
    assert played.add("The Inn", "Ale.", new_place=True, name="The Inn").scope == "location:248"


def test_episodes(played: Memories) -> None:
    played.add(75, "Only now.", persistence="ephemeral")
    assert (played.start_episode(), played.start_episode(7), played.start_episode("ep_009")) == (2, 7, 9)
    assert "Only now." not in str(played.recall(75))


#: Calls that are refused, by method and arguments.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("recall", (), {}),
    ("recall", ("",), {}),
    ("recall", ("Livng Room",), {}),
    ("recall", (-1,), {}),
    ("recall", (75, "Livng Room"), {}),
    ("recall", (10**30,), {}),
    ("recall", (75,), {"max_tokens": -1}),
    ("tried", ("Livng Room", "sing"), {}),
    ("top", (0,), {}),
    ("path", ("world",), {}),
    ("path", ("Livng Room",), {}),
    ("path", (75,), {"start": "npc:troll"}),
    ("path", ("location:nowhere",), {"start": 64}),
    ("frontier", ("agent:alex",), {}),
    ("frontier", (64,), {"number": -1}),
    ("route", (), {"start": "world"}),
    ("route", ("+10",), {"start": "location:nowhere"}),
    ("query", ("",), {}),
    ("query", ("?",), {"scopes": ["Livng Room"]}),
    ("record", ({"action": "a"},), {}),
    ("record", ({"action": None, "response": "b", "location": 3},), {}),
    ("record", ({"action": "a", "response": 5, "location": 3},), {}),
    ("record", ({"action": "a", "response": "b", "location": [3]},), {}),
    ("record", ({"action": "a", "response": "b", "location": "23"},), {}),
    ("record", ({"action": "a", "response": "b", "location": True},), {}),
    ("record", ({"action": "a", "response": "b", "location": 3, "turn": "x"},), {}),
    ("record", ({"action": "a", "response": "b", "location": 3, "score_after": float("nan")},), {}),
    ("record", ({"action": "a", "response": "b"},), {}),
    ("record", (Turn("a", "b", "The Inn"),), {}),
    ("record", (Turn("a", "b", ""),), {}),
    ("record", (Turn("a", "b", 3, episode="first"),), {}),
    ("record", (Turn("a", "b", 3, location_after="Livng Room"),), {}),
    ("record", (Turn("a", "b", 3, score_after="many"),), {}),  # type: ignore[arg-type]
    ("add", ("Livng Room", "x"), {}),
    ("add", (75, ""), {}),
    ("supersede", (75, "No such title", "x"), {}),
    ("invalidate", (75, [], "x"), {}),
    ("start_episode", ("first",), {}),
    ("run", ("no-such-command",), {}),
]


@pytest.mark.parametrize(("method", "arguments", "named"), REFUSED, ids=[f"{one[0]}-{one[1]}" for one in REFUSED])
def test_errors_are_the_same(both: Ways, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    errors: list[MemoriesError] = []
    for memories in both:
        memories.frontier()
        with pytest.raises(MemoriesError) as caught:
            getattr(memories, method)(*arguments, **named)
        errors.append(caught.value)
    by_process, by_session = errors
    assert by_process.code in (2, 4)
    assert (by_session.message, by_session.hint, by_session.code) == (
        *(by_process.message, by_process.hint, by_process.code),
    )


#: Calls whose answers are compared whole. Those behind read what those before have written.
ASKED: list[Callable[[Memories], object]] = [
    lambda memories: memories.record(Turn("x  y ", "No.\n\n> wait", 64, score_before=1, score_after=6, remember="Foo")),
    lambda memories: memories.record(
        Turn("take rug", "A\u2028B\u200b \U0001f600", Place(75, "Living Room"), died=True)
    ),
    lambda memories: memories.record(Turn("go", "x" * 5000, "3:Attic: above", location_after=" 75 : Living Room")),
    lambda memories: memories.record(Turn("go", "x" * 50_000, 4, episode="ep_003", turn=1)),
    lambda memories: memories.record(Turn("key", "password=hunter2secret9Xq", 4, remember="password=hunter2secret9Xq")),
    lambda memories: memories.record({"action": "a", "response": "b", "location_before": {"id": 5, "name": " A "}}),
    lambda memories: memories.record({"action": "a", "response": "", "location": {"name": "Attic: above"}}),
    lambda memories: memories.record({"action": "a", "response": "b", "location": 5, "location_before": 6}),
    lambda memories: memories.record({"action": " ", "response": "b", "location": 5}),
    lambda memories: memories.record(Turn("a", "b", "location:inn", location_after="location:yard")),
    lambda memories: memories.add("npc:troll", "He eats lunch.", name="The Troll"),
    *(
        lambda memories, scope=scope: memories.recall(scope)
        for scope in (*(3, 4, 5, 33, 64, 75, 248), "world", "game", "npc:troll", "agent:alex", "location:inn", "scene")
    ),
    *(
        lambda memories, action=action: memories.tried(75, action)
        for action in (
            "take rug",
            "TAKE RUG",
            " take  rug",
            "take rug.",
            "a\nb",
            "\u200b",
            "北",
            "look; look",
            "go back",
        )
    ),
    lambda memories: memories.tried(64, "x y"),
    lambda memories: memories.tried(64, "up"),
    lambda memories: memories.tried("npc:troll", "feed"),
    lambda memories: memories.path(75),
    lambda memories: memories.path(64, start="location:inn"),
    lambda memories: memories.frontier(),
    lambda memories: memories.top(20),
    lambda memories: memories.route(),
    lambda memories: memories.route("+25", start="."),
    lambda memories: memories.route("Cellar ", start=75),
    lambda memories: memories.goals(),
    lambda memories: memories.query("lunch"),
    lambda memories: memories.start_episode(),
    lambda memories: memories.run("stats"),
]


def test_values_are_the_same(both: Ways) -> None:
    first, second = both
    for at, ask in enumerate(ASKED):
        assert (at, without_file(ask(first))) == (at, without_file(ask(second)))
    texts = [re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "", Path(one.run("check")["file"]).read_text("utf-8")) for one in both]
    assert texts[0] == texts[1]


def without_file(answer: object) -> object:
    """An answer without what differs from file to file."""
    if isinstance(answer, dict):
        return {key: value for key, value in answer.items() if key not in ("file", "bytes", "journal")}  # pyright: ignore
    return answer


def test_answers_conform_to_the_schemas(both: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[tuple[str, dict[str, Any]]] = []
    run, call = _process.run, _session.Session.call
    commands = {
        **{"record_turn": "record", "find_path": "path", "unexplored": "frontier", "next_steps": "route", "check_action": "tried"},
        **{"get_location_memories": "recall", "get_top_memories": "top"},
    }

    def seen_run(command: list[str], *arguments: Any, **named: Any) -> dict[str, Any]:
        answer = run(command, *arguments, **named)
        answers.append((next(word for word in command[5:] if not word.startswith("-")), answer))
        return answer

    def seen_call(session: _session.Session, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        answer = call(session, tool, arguments)
        if answer is not None:
            # What the tool says beside the answer, and what the command line puts before it.
            known = {name: value for name, value in answer.items() if name != "effect_unknown"}
            answers.append((commands[tool], {"version": 1, **known}))
        return answer

    monkeypatch.setattr(_process, "run", seen_run)
    monkeypatch.setattr(_session.Session, "call", seen_call)
    for memories in both:
        for ask in ASKED:
            ask(memories)
    folder = ROOT / "docs" / "schema"
    schemas = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}
    resources = ((name, Resource[Any].from_contents(schema)) for name, schema in schemas.items())
    registry = Registry[Any]().with_resources(resources)
    assert {"record", "recall", "tried", "top", "path", "frontier", "route", "goals", "query", "add", "stats"} <= {
        name for name, _ in answers
    }
    assert len(answers) == 2 * len(ASKED)
    for name, answer in answers:
        validator: Any = Draft202012Validator(schemas[f"{name}.json"], registry=registry)
        validator.validate(answer)


def test_a_recorded_episode_gives_the_same_values(program: str, tmp_path: Path) -> None:
    lines = (TURNS / "zork1_ep3.jsonl").read_text(encoding="utf-8").splitlines()[:60]
    turns = [
        Turn.from_json({key: value for key, value in json.loads(line).items() if "moves" not in key}) for line in lines
    ]
    reports: list[list[Recorded]] = []
    for session in (False, True):
        with Memories(tmp_path / f"{session}.md", session=session, program=program) as memories:
            reports.append([memories.record(turn) for turn in turns])
    assert reports[0] == reports[1]
    assert (tmp_path / "False.md").read_text("utf-8") == (tmp_path / "True.md").read_text("utf-8")


def test_a_model_that_is_not_asked_is_a_warning_that_a_user_sees(program: str, tmp_path: Path) -> None:
    (tmp_path / "memories.toml").write_text('[llm]\nprovider = "command"\ncommand = ["model"]\n', "utf-8")
    memories = Memories(tmp_path / "Memories.md", program=program)
    with pytest.warns(UserWarning, match="its model is not asked"):
        recorded = memories.record(Turn("wait", "Time passes.", Place(33, "Cellar")))
    assert recorded.judge == "rules"


def test_a_character_knows_what_it_witnessed_and_the_past_knows_no_more_than_it_did(both: Ways) -> None:
    for memories in both:
        secret = Turn("say xyzzy", "A vault opens.", 75, episode=2, turn=1, location_after=Place(999, "Vault"))
        memories.record({**secret.to_json(), "present": ["jordan"]})
        memories.record(Turn("pull lamp", "Nothing happens.", 75, episode=2, turn=2).to_json() | {"present": ["jordan"]})
        memories.add(75, "The lamp is a fake.", title="Fake", importance=1000, tags=["witness:jordan"])
        for viewer, knows in (("jordan", True), ("marta", False), (None, True)):
            assert ("say xyzzy" in memories.recall(75, max_tokens=2000, viewer=viewer).text) == knows
            assert (memories.tried(75, "pull lamp", viewer=viewer).verdict != "no") == knows
            assert memories.path(999, start=75, viewer=viewer).known == knows
            assert any(memory.title == "Fake" for memory in memories.query("Fake lamp", viewer=viewer)) == knows
            assert any(memory.title == "Fake" for memory in memories.top(20, viewer=viewer)) == knows
            assert ("Vault" in str(memories.frontier(75, number=99, viewer=viewer))) == knows
            assert len(memories.goals(viewer=viewer)) > 0 and memories.route(viewer=viewer).known
        assert "say xyzzy" not in memories.recall(75, max_tokens=2000, as_of="1").text
        assert not memories.path(999, start=75, as_of="1").known
        episodes = [found.episode or 0 for found in memories.query("lamp", by_time=True)]
        assert len(episodes) > 1 and episodes == sorted(episodes)
        assert len(memories.goals(as_of="1.5")) < len(memories.goals())
        with pytest.raises(MemoriesError):
            memories.recall(75, viewer="no one")
