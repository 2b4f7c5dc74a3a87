"""A house of sixteen places in plain Python: a locked door, a cellar that is dark, points, and three ways to die."""

from __future__ import annotations

from collections.abc import Sequence

from state import State

PLACES = {
    "Hall": "A wide hall. The kitchen is north, the library is east, the garden is south, and a stair leads up.",
    "Kitchen": "A cold kitchen with a stove. A pantry is west, and steps lead down.",
    "Pantry": "Shelves, and some honey in a jar. It smells of almonds.",
    "Library": "Books to the ceiling. A study lies north, behind a door of oak.",
    "Study": "A desk with a drawer, and dust.",
    "Garden": "A garden gone wild. A shed is east, a well is west, and a gate is south.",
    "Shed": "A shed full of tools.",
    "Well": "An old well with a rope. The water is far below.",
    "Gate": "An iron gate, rusted shut. A lane is beyond it.",
    "Landing": "A landing. A bedroom is north, an attic is up.",
    "Bedroom": "A bed and a wardrobe.",
    "Attic": "Beams and a window over the garden.",
    "Cellar": "A cellar with a rack of bottles. A tunnel runs east.",
    "Tunnel": "A low tunnel. It goes on north and east.",
    "Vault": "A round vault of stone with a pedestal.",
    "Pit": "The edge of a pit.",
}
WAYS = {
    "Hall": {"north": "Kitchen", "east": "Library", "south": "Garden", "up": "Landing"},
    "Kitchen": {"south": "Hall", "west": "Pantry", "down": "Cellar"},
    "Pantry": {"east": "Kitchen"},
    "Library": {"west": "Hall", "north": "Study"},
    "Study": {"south": "Library"},
    "Garden": {"north": "Hall", "east": "Shed", "west": "Well", "south": "Gate"},
    "Shed": {"west": "Garden"},
    "Well": {"east": "Garden"},
    "Gate": {"north": "Garden"},
    "Landing": {"down": "Hall", "north": "Bedroom", "up": "Attic"},
    "Bedroom": {"south": "Landing"},
    "Attic": {"down": "Landing"},
    "Cellar": {"up": "Kitchen", "east": "Tunnel"},
    "Tunnel": {"west": "Cellar", "north": "Vault", "east": "Pit"},
    "Vault": {"south": "Tunnel"},
    "Pit": {"west": "Tunnel"},
}
THINGS = {"lamp": "Shed", "key": "Bedroom", "spoon": "Kitchen", "ring": "Attic", "letter": "Study", "crown": "Vault"}
GAINS = {"take ring": 5, "take letter": 10, "take crown": 20, "Cellar": 5, "open drawer": 10}
DEADLY = {
    ("Pantry", "eat honey"): "The honey is poisoned. You have died.",
    ("Well", "down"): "The rope breaks, and you fall. You have died.",
    ("Pit", "north"): "You fall into the pit. You have died.",
}
#: Nobody can carry these, however often it is tried.
FIXED = set("stove jar honey books desk rope gate bed wardrobe window rack pedestal door drawer tools bottles".split())


class House:
    name = "house"
    best = sum(GAINS.values())
    directions: tuple[str, ...] = ("north", "east", "south", "west", "up", "down", "in", "out")
    verbs: tuple[str, ...] = ()
    solution: Sequence[str] = (
        "up,up,take ring,down,north,take key,south,down,east,unlock door,north,take letter,open drawer,south,west,"
        "south,east,take lamp,light lamp,west,north,north,down,east,north,take crown"
    ).split(",")

    def start(self) -> State:
        self.place, self.score = "Hall", 0
        self.things = dict(THINGS)
        self.done: set[str] = set()
        return self._state(self._look())

    def do(self, action: str) -> State:
        if reply := DEADLY.get((self.place, action)):
            return self._state(reply, died=True)
        reply = self._go(action) if action in self.directions else self._use(*action.partition(" ")[::2])
        return self._state(reply)

    def _go(self, way: str) -> str:
        to = WAYS[self.place].get(way)
        if to is None:
            return "You can't go that way."
        if to == "Study" and "unlock door" not in self.done:
            return "The door is locked."
        if self._is_dark() and way != "up":
            return "It is too dark to see where you go."
        self.place = to
        self._gain(to)
        return self._look()

    def _use(self, verb: str, thing: str) -> str:
        carried = self.things.get(thing) == "you"
        if verb == "look":
            return self._look()
        if verb == "take" and self.things.get(thing) == self.place and not self._is_dark():
            self.things[thing] = "you"
            self._gain(f"take {thing}")
            return "Taken."
        if verb == "take" and carried:
            return "You already have that."
        if verb == "take" and thing in FIXED and thing in PLACES[self.place]:
            return f"The {thing} is fixed in place."
        if f"{verb} {thing}" in self.done:
            return "That is done already."
        if verb == "light" and thing == "lamp" and carried:
            return self._did("light lamp", "The lamp burns.")
        if verb == "unlock" and thing == "door" and self.place == "Library":
            has_key = self.things["key"] == "you"
            return self._did("unlock door", "The key turns.") if has_key else "You have nothing to unlock it with."
        if verb == "open" and thing == "drawer" and self.place == "Study":
            return self._did("open drawer", "In the drawer lies a deed of the house.")
        is_here = thing in PLACES[self.place].lower() or self.things.get(thing) in ("you", self.place)
        return "Nothing happens." if is_here else "You can't see any such thing."

    def _did(self, action: str, reply: str) -> str:
        self._gain(action)
        self.done.add(action)
        return reply

    def _gain(self, what: str) -> None:
        if what not in self.done:
            self.done.add(what)
            self.score += GAINS.get(what, 0)

    def _is_dark(self) -> bool:
        return self.place in ("Cellar", "Tunnel", "Vault", "Pit") and "light lamp" not in self.done

    def _look(self) -> str:
        if self._is_dark():
            return "It is pitch dark."
        here = "".join(f" There is a {thing} here." for thing, place in self.things.items() if place == self.place)
        return f"{self.place}. {PLACES[self.place]}{here}"

    def _state(self, reply: str, died: bool = False) -> State:
        carried = tuple(thing for thing, place in self.things.items() if place == "you")
        mark = (self.place, self.score, carried, frozenset(self.done), died)
        return State(reply, self.place, self.score, carried, mark, died=died, won=self.score == self.best)
