"""Arguments for the tools of a session, where a tool understands them as the command line does.

Each function gives `None` where it may not: then the call is one of the command line. A tool reads what a model wrote
and is more liberal than a command, it knows fewer fields of a turn, and it refuses what it does not know.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memories._types import Place

#: Fields of a turn that `record_turn` has.
TURN = {
    *("action", "response", "location", "location_after", "died", "won", "world_changed", "reasoning", "episode"),
    *("turn", "score_before", "score_after", "inventory_before", "inventory_after", "remember", "remember_importance"),
}

Arguments = dict[str, Any]


def text_of(scope: int | str | Place) -> str:
    """A place or scope as it is told to the program."""
    return str(scope.id if isinstance(scope, Place) else scope)


def of_recall(scopes: Sequence[int | str | Place], max_tokens: int | None) -> Arguments | None:
    """Arguments of `get_location_memories`: one scope, in the usual budget."""
    scope = text_of(scopes[0]) if len(scopes) == 1 and max_tokens is None else ""
    is_known = re.fullmatch(r"(npc|agent):[a-z0-9_-]+|world|scene|dialogue", scope) or _is_id(scope)
    return {"location": scope} if is_known else None


def of_ways(**places: int | str | Place | None) -> Arguments | None:
    """Arguments of `find_path` and `unexplored`."""
    arguments: Arguments = {name: text_of(place) for name, place in places.items() if place is not None}
    return arguments if all(map(_is_id, arguments.values())) else None


def of_route(goal: str | None, start: int | str | Place | None) -> Arguments | None:
    """Arguments of `next_steps`, which always has a start."""
    if start is None or not (goal is None or _is_plain(goal)):
        return None
    arguments = of_ways(**{"from": None if start == "." else start})
    return None if arguments is None else arguments | ({} if goal is None else {"goal": goal})


def of_action(place: int | str | Place, action: str) -> Arguments | None:
    """Arguments of `check_action`."""
    is_known = _is_id(text_of(place)) and _is_plain(action)
    return {"location": text_of(place), "action": action} if is_known else None


def of_turn(turn: Mapping[str, Any], new_place: bool) -> Arguments | None:
    """Arguments of `record_turn`."""
    arguments = {name: value for name, value in turn.items() if value is not None}
    if "location" not in arguments and "location_before" in arguments:
        arguments["location"] = arguments.pop("location_before")
    for name in {"location", "location_after"} & arguments.keys():
        arguments[name] = _of_place(arguments[name])
    is_said = all(isinstance(arguments.get(name), str) and arguments[name].strip() for name in ("action", "location"))
    if not is_said or not arguments.keys() <= TURN or None in arguments.values():
        return None
    return arguments | ({"new_place": True} if new_place else {})


def _of_place(place: Any) -> str | None:
    """A place of a turn as a text: an id, `id:name`, or a text that is neither."""
    match place:
        case bool():
            return None
        case int():
            return str(place) if place >= 0 else None
        case str():
            return None if re.match(r"\s*[0-9]+\s*(:|$)", place) else place
        case {"id": int() as number, **others} if others.keys() <= {"name"}:
            name: object = others.get("name", "")
            return f"{number}:{name}" if isinstance(name, str) and name == name.strip() and number >= 0 else None
        case _:
            return None


def _is_id(text: str) -> bool:
    """A place by its id. Names are not told to tools, which also know those of characters."""
    return re.fullmatch(r"[0-9]{1,15}|location:[a-z0-9_-]+", text) is not None


def _is_plain(text: str) -> bool:
    """Nothing in it that one of the two ways to ask may trim or replace."""
    return text.isprintable() and text == " ".join(text.split()) != ""


def is_recorded(turn: Mapping[str, Any], begun: float, lines: Iterable[Mapping[str, Any]]) -> bool | None:
    """Whether one of these lines of the journal is the turn, of which the call began at a time.

    `None` where that cannot be told: a reply is masked where it has a secret, and then does not tell turns apart.
    """
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begun))
    given = {name: turn[name] for name in ("action", "turn") if turn.get(name) is not None}
    recent = [line["turn"] for line in lines if line.get("turn") and line.get("time", "") >= since]
    same = [one for one in recent if all(one.get(name) == value for name, value in given.items())]
    if any(one.get("response") == turn.get("response") for one in same):
        return True
    return None if any("masked)" in one.get("response", "") for one in same) else False
