"""The dataclasses against the JSON Schemas of the repository, and how JSON becomes values."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields
from typing import Any

import pytest
from conftest import ROOT, TURNS

import memories
from memories import Memory, Moment, Path, Place, Recalled, Recorded, Step, Tried, Turn
from memories._types import Record

SCHEMAS = ROOT / "docs" / "schema"

#: Where the properties of a class are, as a path into a schema.
PLACES: dict[str, list[str]] = {
    "Answered": ["query.json"],
    "Attempt": ["common.json/$defs/attempt", "recall.json/properties/scopes/items/oneOf/0/properties/tried/items"],
    "Cause": [
        "memory.json/properties/reference/properties/cause/oneOf/0",
        "memory.json/properties/reference/properties/cause/oneOf/1",
    ],
    "Contested": [
        "common.json/$defs/written/properties/beside",
        "common.json/$defs/corrected/properties/contested/items",
    ],
    "Corrected": ["supersede.json", "invalidate.json"],
    "Correction": ["common.json/$defs/corrected"],
    "Found": ["memory.json", "query.json/properties/memories/items"],
    "Frontier": ["frontier.json"],
    "Goal": ["goals.json/properties/goals/items"],
    "Memory": ["memory.json", "top.json/properties/memories/items"],
    "Model": ["common.json/$defs/model"],
    "Moment": ["common.json/$defs/moment", "tried.json/properties/worked_at"],
    "Note": ["common.json/$defs/note"],
    "Path": ["path.json"],
    "Place": ["common.json/$defs/place"],
    "Recalled": ["recall.json"],
    "Recorded": ["record.json/oneOf/0"],
    "RecordedAll": ["record.json/oneOf/1"],
    "Reference": ["memory.json/properties/reference"],
    "Refusal": ["common.json/$defs/map_way/properties/refused_since"],
    "Refused": ["record.json/oneOf/1/properties/failed/items"],
    "Rewound": ["common.json/$defs/rewound"],
    "RewoundMemory": ["common.json/$defs/rewound/properties/memories/items"],
    "RewoundTurn": ["common.json/$defs/rewound/properties/turns/items"],
    "Route": ["route.json"],
    "RouteStep": ["route.json/properties/steps/items"],
    "Section": ["recall.json/properties/scopes/items/oneOf/0"],
    "Span": ["common.json/$defs/span"],
    "Step": ["common.json/$defs/map_way"],
    "Summarized": ["summarize.json"],
    "Tried": ["tried.json"],
    "Turn": ["turn.json"],
    "Unexplored": ["frontier.json/properties/places/items"],
    "Way": ["recall.json/properties/scopes/items/oneOf/0/properties/ways/items"],
    "Written": ["memory.json", "common.json/$defs/written", "add.json"],
}

#: Properties that are no field, with the reason.
LEFT_OUT = {
    "version": "it is 1 in every answer",
    "as_of": "it repeats the moment that was asked for",
    "Memory.decayed": "only with a flag of `top` that the module does not set",
    "Memory.age": "only with a flag of `top` that the module does not set",
    "Found.explain": "only with `--explain`, which the module does not set",
    "Model.answer": "only in the journal",
    "Turn.location_id": "another spelling of `location`",
    "Turn.location_name": "another spelling of `location`",
    "Turn.rememberImportance": "another spelling of `remember_importance`",
    "Turn.z_machine_context": "a frame around fields that are there without it",
    "Turn.game": "the program does not use it",
    "Turn.outcome": "the program does not use it",
}


def records() -> list[type[Record]]:
    exported = [getattr(memories, name) for name in memories.__all__]
    return [one for one in exported if isinstance(one, type) and issubclass(one, Record)]


def schema_at(place: str) -> dict[str, Any]:
    file, _, rest = place.partition("/")
    part: Any = json.loads((SCHEMAS / file).read_text(encoding="utf-8"))
    for step in rest.split("/") if rest else ():
        part = part[int(step) if step.isdigit() else step]
    schema: dict[str, Any] = part
    return schema


def properties(record: type[Record]) -> set[str]:
    return {name for place in PLACES[record.__name__] for name in schema_at(place).get("properties", {})}


@pytest.mark.parametrize("record", records(), ids=lambda record: record.__name__)
def test_each_property_of_the_schema_is_a_field_or_left_out_with_a_reason(record: type[Record]) -> None:
    keys = {key for one in fields(record) for key in one.metadata.get("keys", (one.name,))}  # type: ignore[arg-type]
    left_out = {name for name in properties(record) if name in LEFT_OUT or f"{record.__name__}.{name}" in LEFT_OUT}
    assert keys | left_out == properties(record)
    assert not keys & left_out


def test_nothing_is_left_out_that_no_schema_has() -> None:
    named = {f"{record.__name__}.{name}" for record in records() for name in properties(record)} | {"version", "as_of"}
    assert set(LEFT_OUT) <= named


def test_a_value_is_read_with_all_that_it_holds() -> None:
    path = Path.from_json(
        {
            "version": 1,
            "known": True,
            "from": {"id": 3, "name": "Attic"},
            "to": {"id": 4, "name": ""},
            "actions": ["down"],
            "steps": [
                {
                    "action": "down",
                    "from": {"id": 3, "name": "Attic"},
                    "to": {"id": 4, "name": ""},
                    "count": 2,
                    "episode": None,
                    "turn": None,
                    "sometimes_to": [{"id": 5, "name": "Cellar"}],
                }
            ],
        }
    )
    step = Step(
        action="down",
        start=Place(3, "Attic"),
        to=Place(4),
        count=2,
        sometimes_to=(Place(5, "Cellar"),),
    )
    assert path == Path(known=True, start=Place(3, "Attic"), to=Place(4), actions=("down",), steps=(step,))
    assert path and not Path()


def test_what_a_later_version_adds_is_left_out() -> None:
    answer = {"version": 2, "outcome": "stored", "mood": "good", "place": {"id": 1, "name": "A", "colour": "red"}}
    assert Recorded.from_json(answer) == Recorded(outcome="stored", place=Place(1, "A"))
    unknown = {"verdict": "maybe", "worked_at": {"episode": 1, "turn": None, "hour": 3}, "memories": [{"shape": 1}]}
    tried = Tried.from_json(unknown)
    assert tried == Tried(verdict="maybe", worked_at=Moment(episode=1), memories=(Memory(),))
    assert not tried


def test_values_are_frozen_can_be_compared_and_pickled() -> None:
    recalled = Recalled.from_json(
        {"text": "Data", "scopes": [{"memories": [{"title": "A"}]}, {"memories": [{"title": "B"}]}]}
    )
    assert [memory.title for memory in recalled.memories] == ["A", "B"]
    assert str(recalled) == "Data"
    assert pickle.loads(pickle.dumps(recalled)) == recalled and hash(recalled) == hash(recalled)
    with pytest.raises(AttributeError):
        recalled.text = "changed"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("place", "json_of_it"),
    [
        (23, 23),
        ("23", 23),
        (" 23 : Living Room ", {"id": 23, "name": "Living Room"}),
        ("23:", 23),
        (Place(23, "Living Room"), {"id": 23, "name": "Living Room"}),
        (Place(0), 0),
        ("location:town-square", "location:town-square"),
        ("Living Room", "Living Room"),
        ("-5", "-5"),
        ("٣", "٣"),
    ],
)
def test_places_of_a_turn(place: int | str | Place, json_of_it: object) -> None:
    turn = Turn("a", "b", place, location_after=place)
    expected = {"action": "a", "response": "b", "location": json_of_it, "location_after": json_of_it}
    assert turn.to_json() == expected


def test_the_first_of_several_spellings_counts() -> None:
    turn = {"action": "a", "response": "b", "location": 1, "location_before": 2, "valid": False, "world_changed": True}
    assert Turn.from_json(turn) == Turn("a", "b", 2, world_changed=True)
    with pytest.raises(TypeError, match="location"):
        Turn.from_json({"action": "a", "response": "b"})


def test_recorded_play_is_read_as_turns() -> None:
    for line in (TURNS / "zork1_ep1.jsonl").read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        turn = Turn.from_json(data)
        assert isinstance(turn.location, Place) and turn.location.id == data["location_before"]["id"]
        assert turn.world_changed == data["valid"]
        expected = {key: value for key, value in data.items() if key not in ("game", "outcome", "valid")}
        expected |= {"location": expected.pop("location_before"), "world_changed": data["valid"]}
        assert json.loads(json.dumps(turn.to_json())) == expected
