"""A game of TextWorld that speaks in lines, for the loops beside this file.

    sh examples/loop.sh AGENT python examples/textworld_game.py GAME.z8
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from typing import Any

# It has no types.
textworld: Any = import_module("textworld")


def place_of(state: Any, before: str) -> str:
    """The room of the last heading, `-= Living Room =-`; the room before where the game prints none."""
    headings = re.findall(r"-= (.+?) =-", state.feedback)
    return f"location:{headings[-1].lower().replace(' ', '-')}" if headings else before


def show(place: str, state: Any) -> None:
    """Prints the place and what the player reads there."""
    print(place, " ".join(state.feedback.split()), sep="\n", flush=True)


def main() -> None:
    game = textworld.start(sys.argv[1], textworld.EnvInfos(facts=True, inventory=True, won=True, lost=True))
    before = game.reset()
    place = place_of(before, "location:start")
    show(place, before)
    for action in sys.stdin:
        after, score, done = game.step(action.strip())
        there = place_of(after, place)
        turn = {
            "action": action.strip(), "response": after.feedback.partition("\n>")[0].strip(),
            "location_before": place, "location_after": there,
            "score_before": before.score or 0, "score_after": score,
            "world_changed": set(before.facts) != set(after.facts), "died": after.lost, "won": after.won,
        }
        print(json.dumps(turn), flush=True)
        if done:
            break
        show(there, after)
        before, place = after, there


if __name__ == "__main__":
    main()
