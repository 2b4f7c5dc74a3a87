"""What environments say of their games, in the words of a turn: for `memories.gym`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from memories._types import Place, Turn

#: The last line of TextWorld: a prompt, with spaces, place, score and moves behind it.
_PROMPT = re.compile(r"\n>[^\n]*\s*\Z")


class State(NamedTuple):
    """What is known between two steps. `rewards` is their sum; `world` is another value when the world has changed."""

    #: The scope of the place, and the place as a turn names it.
    place: tuple[int | str, int | str | Place]
    rewards: float = 0.0
    score: int | None = None
    inventory: list[str] | None = None
    died: bool | None = None
    won: bool | None = None
    has_changed: bool | None = None
    world: object = None


def parts_of_reset(answer: Any) -> tuple[Any, Mapping[str, Any], Any]:
    """Observation and info of a reset, where there are these, and 0 for the value of a step."""
    obs, info = answer if _is_tuple(answer) else (answer, answer)
    return obs, info if _is_mapping(info) else {}, 0


def parts_of_step(answer: Any) -> tuple[Any, Mapping[str, Any], Any]:
    """Observation, info and value of a step: a reward, or TextWorld's score. Its state is both observation and info."""
    return answer[0], answer[-1] if len(answer) > 3 else answer[0], answer[1]


def told(answer: Any, news: Mapping[str, str]) -> Any:
    """An answer whose info says more."""
    if _is_tuple(answer) and _is_mapping(answer[-1]):
        return (*answer[:-1], {**answer[-1], **news})
    state: Any = answer[0] if _is_tuple(answer) else answer
    if _is_mapping(state):
        state.update(news)
    return answer


def find_place(env: Any, obs: Any, info: Mapping[str, Any]) -> Any:
    """The place of the player, by Jericho, by `info["location"]`, or by TextWorld's `-= Kitchen =-` in the text."""
    game = _jericho(env)
    place = info.get("location") if game is None else game.get_player_location()
    headings = re.findall(r"-= (.+?) =-", text_of(obs))
    return headings[-1] if place is None and headings else place


def state_of(env: Any, info: Mapping[str, Any], value: Any, place: Any, before: State | None) -> State:
    """The state after a step, whose second part is `value`: a reward, or TextWorld's score."""
    game, base = _jericho(env), getattr(env, "unwrapped", env)
    if game is None and hasattr(base, "get_player_location"):
        info = {}  # In a game that Jericho does not know, the score is always 0.
    score, carried, facts = info.get("score"), info.get("inventory"), info.get("facts")
    if score is None and any(kind.__module__.startswith("textworld.") for kind in type(base).__mro__):
        score = value
    return State(
        place=_named(place) if place is not None or before is None else before.place,
        rewards=0.0 if before is None else before.rewards + float(value),
        score=_integer(score),
        inventory=_items(carried if game is None else game.get_inventory()),
        died=_boolean(info.get("died", info.get("lost") if game is None else game.game_over())),
        won=_boolean(info.get("won") if game is None else game.victory()),
        has_changed=_boolean(info.get("world_changed")),
        world=(facts and frozenset(map(str, facts))) if game is None else game.get_world_state_hash(),
    )


def turn_of(action: str, obs: Any, before: State, after: State) -> Turn:
    """The turn from one state to the next. A reward of 0 is no sign that the score is the same."""
    has_changed, scores = after.has_changed, (before.score, after.score)
    if has_changed is None and before.world is not None and after.world is not None:
        has_changed = before.world != after.world
    if scores == (None, None) and before.rewards != after.rewards:
        scores = (_integer(before.rewards), _integer(after.rewards))
    return Turn(
        action,
        _PROMPT.sub("", text_of(obs)),
        before.place[1],
        location_after=after.place[1],
        score_before=scores[0],
        score_after=scores[1],
        inventory_before=before.inventory,
        inventory_after=after.inventory,
        died=after.died,
        won=after.won,
        world_changed=has_changed,
    )


def text_of(obs: Any) -> str:
    """The text of an observation, which may be a dictionary such as TextWorld's state."""
    return str(obs.get("feedback", obs.get("text", "")) if _is_mapping(obs) else obs)


def _jericho(env: Any) -> Any:
    """Jericho's environment, if it knows the objects of the game."""
    base = getattr(env, "unwrapped", env)
    return base if hasattr(base, "get_player_location") and getattr(base, "is_fully_supported", True) else None


def _named(place: Any) -> tuple[int | str, int | str | Place]:
    """The scope of a place, and the place as a turn names it.

    The program folds case, spaces, `_` and `-` in a name. Where an id needs more than that, it ends in a hash of the
    name, and is all that the file has: a turn cannot give a new place both an id of its own and a name. Raises
    `ValueError` for what is no place, such as 1.5.
    """
    number, name = getattr(place, "num", getattr(place, "id", place)), str(getattr(place, "name", ""))
    if not isinstance(number, str) or re.fullmatch("[0-9]+", number):
        return (whole := _whole(number)), Place(whole, name)
    if re.fullmatch("location:[a-z0-9_-]+", number):
        return number, number
    single = re.sub(" +", " ", number.strip(" "))
    plain = re.sub("[ _]", "-", single.lower()) if number.isascii() else ""
    if re.fullmatch("(?=.*[a-z])[a-z0-9-]{1,64}", plain):
        return f"location:{plain}", single
    words = re.sub(r"[^a-z0-9]+", "-", number.lower()).strip("-")
    if len(words) > 55 or not re.search("[a-z]", words):
        words = "place"
    mark = hashlib.sha256(number.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"location:{words}-{mark}", f"location:{words}-{mark}"


def _whole(number: Any) -> int:
    try:
        if (whole := int(number)) == number or isinstance(number, str):
            return whole
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"a place is a whole number, a `Place` or a name, and not {number!r}")


def _items(carried: Any) -> list[str] | None:
    """The items of a list, or of a text: `You are carrying: a lamp and a sword.`, `lamp, sword`, `Nothing.`"""
    if isinstance(carried, str):
        text = re.sub("^you (are carrying|carry|have|hold) ", "", carried.strip(), flags=re.IGNORECASE)
        _, colon, listed = text.partition(":")
        if not colon:
            # Another sentence says that there is nothing, as `You are empty-handed.` does.
            listed = re.sub(r"^(nothing|empty|you)\b.*", "", text, flags=re.IGNORECASE | re.DOTALL)
        names = re.split(r",|\n| and ", listed)
        carried = [re.sub("^(and )?((an?|the|some) )?", "", name.strip(" ."), flags=re.IGNORECASE) for name in names]
    return None if carried is None else [name for item in carried if (name := str(getattr(item, "name", item)))]


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _is_mapping(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _integer(number: Any) -> int | None:
    return None if number is None or not float(number).is_integer() else int(number)


def _boolean(truth: Any) -> bool | None:
    return None if truth is None else bool(truth)
