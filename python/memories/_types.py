"""Turns and answers, as frozen dataclasses with the names that the program's JSON has.

An answer may have fields that this version does not know; they are left out. Each field of an answer has a default, for
what the program does not state. Where memory is switched off (`enabled = false`) that is everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from typing_extensions import Self


class Record:
    """A value that is read from JSON."""

    __slots__ = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Reads an object of the program's JSON. Fields that are not known are left out."""
        this: Any = cls
        return cls(**{name: read(data[key]) for key, name, read in _shape(this) if key in data})


@cache
def _shape(cls: type[Any]) -> list[tuple[str, str, Callable[[Any], Any]]]:
    """What a dataclass reads: the key in JSON, the name of the field, and the function that reads the value.

    Of several keys of a field the first is the last in the list, and so the one that counts.
    """
    hints = get_type_hints(cls)
    readers = {one.name: _reader(hints[one.name]) for one in fields(cls)}
    keys = {one.name: one.metadata.get("keys", (one.name,)) for one in fields(cls)}
    return [(key, name, readers[name]) for name in keys for key in reversed(keys[name])]


def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function that reads a value of this type: objects become records, and lists tuples."""
    for one in get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,):
        if isinstance(one, type) and issubclass(one, Record):
            record = one
            return lambda value: value if value is None or isinstance(value, (int, str)) else record.from_json(value)
        if get_origin(one) is tuple:
            item = _reader(get_args(one)[0])
            return lambda value: value if value is None else tuple(map(item, value))
    return lambda value: value


@dataclass(frozen=True, slots=True)
class Place(Record):
    """A place: the id that the game's engine gives it, and its name, which may be empty."""

    id: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Turn(Record):
    """A turn to be recorded: what was done, what the game replied, and what is known of the circumstances.

    A place is an id, a `Place`, or a text: `"23"`, `"23:Living Room"`, an id of your own such as
    `"location:town-square"`, or a name that only one place has. `location` is where the action was taken, and
    `location_after` where it led, if elsewhere. Whether the action changed something is read from the reply, and from
    what else is sent: `world_changed`, a pair of scores or inventories, `died`, `won`.

    `id` is an id of your own, by which the turn is recorded once. `episode` and `turn` are numbers, by default the
    running episode and the next turn. `remember` is stored as it stands; `remember_importance` is from 1 to 1000,
    or to `importance_scale`. `present` has the ids of those who know what is remembered of it, by default everybody.
    `timestamp` is a date or a time of RFC 3339, by default the time of recording. `rewind` says that a save was
    restored: what was recorded from the turn's number on is set aside first.
    """

    action: str
    response: str
    location: int | str | Place = field(metadata={"keys": ("location_before", "location")})
    location_after: int | str | Place | None = None
    score_before: int | None = None
    score_after: int | None = None
    inventory_before: tuple[str, ...] | list[str] | None = None
    inventory_after: tuple[str, ...] | list[str] | None = None
    died: bool | None = None
    won: bool | None = None
    world_changed: bool | None = field(default=None, metadata={"keys": ("world_changed", "valid")})
    present: tuple[str, ...] | list[str] | None = None
    reasoning: str | None = None
    remember: str | None = None
    remember_importance: int | None = None
    remember_category: str | None = None
    importance_scale: float | None = None
    episode: int | str | None = None
    turn: int | None = None
    id: str | int | None = None
    moves_before: int | None = None
    moves_after: int | None = None
    timestamp: str | None = None
    rewind: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """The object that `memories record` reads."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        for name in ("location", "location_after"):
            given[name] = _place_to_json(given[name])
        return {name: value for name, value in given.items() if value is not None}


def _place_to_json(place: int | str | Place | None) -> int | str | dict[str, Any] | None:
    """A place in the JSON of a turn, where a text with a number would be refused."""
    if isinstance(place, Place):
        return {"id": place.id, "name": place.name} if place.name else place.id
    numbered = re.fullmatch(r"\s*([0-9]+)\s*(?::(.*))?", place, re.DOTALL) if isinstance(place, str) else None
    return place if numbered is None else _place_to_json(Place(int(numbered[1]), (numbered[2] or "").strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Span(Record):
    """The first and the last turn or message of a memory."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Record):
    """When something happened, as far as it is known."""

    episode: int | None = None
    turn: int | None = None
    message: int | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause(Record):
    """Why a memory is superseded: the title of its successor, or the reason why it is wrong."""

    superseded_by: str | None = None
    invalidated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Record):
    """When and why a memory was superseded."""

    at: Moment = Moment()
    cause: Cause = Cause()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Record):
    """A memory. `scope` is where it belongs (`location:23`, `npc:troll`, `world` …) and `name` that of its section.

    `importance` is from 1 to 1000. `persistence` is `core`, `permanent` or `ephemeral`; `status` is `active`,
    `tentative` or `superseded`; `author` is `person`, `model`, `rules`, `agent`, `seed` or `program`. `stale`
    names files that changed since, where a recall has looked.
    """

    scope: str = ""
    name: str = ""
    category: str = ""
    persistence: str = ""
    status: str = ""
    title: str = ""
    text: str = ""
    importance: int = 0
    author: str = ""
    writers: tuple[str, ...] = ()
    context: str | None = None
    see_also: str | None = None
    episode: int | None = None
    turns: Span | None = None
    messages: Span | None = None
    score_change: int | None = None
    date: str | None = None
    score: int | None = None
    moves: int | None = None
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    goal: str | None = None
    reference: Reference | None = None
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Memory):
    """A memory that a question found, with its relevance from 0 to 1.

    `type` is `place`, `character`, `character_knowledge`, `scene`, `episodic` or `work`. `matched` are words of the
    question that it has. `passage` is the most similar part of a long text; where `cut` is set, `text` is only that
    part. `number` is that by which an answer names it. Where `weak` is set, it may have nothing to do with the question.
    """

    relevance: float = 0.0
    weak: bool = False
    number: int | None = None
    type: str = ""
    matched: tuple[str, ...] = ()
    passage: str | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Contested(Record):
    """A protected memory that was to be replaced, and why it stays."""

    title: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Memory):
    """A memory that was to be written: the entry that is there now, and what came of it.

    `outcome` is `stored`, `revised`, `contested`, `confirmed` or `duplicate`. For a duplicate `not_stored` is the text
    that was not stored. `superseded` are titles of what it replaced; `beside` and `contested` name what it could not
    replace.
    """

    outcome: str = ""
    not_stored: str | None = None
    superseded: tuple[str, ...] = ()
    raised_to: int | None = None
    stays: str | None = None
    not_taken: tuple[str, ...] = ()
    beside: Contested | None = None
    contested: tuple[Contested, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Record):
    """An action that was tried, that worked, or that only looked: how often it was done, and its last reply.

    `result` says what came of the last try: `blocked`, `deadly`, `died`, `unknown` or `unseen`. It is `None` where the
    action was refused or nothing happened. In what is recalled, `verdict` of a tried action is `in_vain`,
    `may_be_tried`, `unknown_effect`, or, of a command in a folder, `failed`. `witnesses` are the ids of those who alone
    know it; it is `None` where everybody does.
    """

    action: str = ""
    count: int = 0
    reply: str = ""
    verdict: str | None = None
    episode: int | None = None
    turn: int | None = None
    result: str | None = None
    witnesses: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model(Record):
    """The model that was asked, the number of calls, and what they took."""

    name: str = ""
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Record):
    """A model's answer to a question, and the memories that it was shown. `str()` is the answer.

    `answer` is `None` where the memories do not tell, or the model could not be asked; `model.error` says why.
    `relevant` are the numbers of the memories on which the answer rests. `missing_phrase` is a quotation of the question
    that no memory has.
    """

    query: str = ""
    answer: str | None = None
    relevant: tuple[int, ...] = ()
    missing_phrase: str | None = None
    memories: tuple[Found, ...] = ()
    model: Model | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.answer or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarized(Record):
    """A model's summary of a place or character in two or three sentences. `str()` is the summary.

    `summary` is `None` where nothing is known. `titles` are those of the memories on which it rests, of `memory_count`;
    `left_out` did not fit into the prompt.
    """

    scope: str | None = None
    name: str = ""
    summary: str | None = None
    titles: tuple[str, ...] = ()
    memory_count: int = 0
    left_out: int = 0
    model: Model | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.summary or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewoundTurn(Record):
    """A turn that was set aside, and the place where it began."""

    turn: int = 0
    action: str = ""
    location: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewoundMemory(Record):
    """A memory of a turn that was set aside."""

    scope: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound(Record):
    """What was set aside of an episode. `after` is the number of the last turn that stays, if one does."""

    episode: int = 0
    after: int | None = None
    turns: tuple[RewoundTurn, ...] = ()
    memories: tuple[RewoundMemory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(Record):
    """What came of a turn.

    `outcome` is `stored`, `revised`, `contested`, `confirmed`, `queued`, `duplicate`, `declined`, `tried`,
    `not_significant` or `recorded_before`. `effect` is what the action did, such as `moved`, `changed`, `refused` or
    `unknown` (`docs/schema/common.json` lists them). `attempt` is the line about the action, where it failed or its
    effect is not known. `queued` says that the turn waits for a model, `judge` who judged it
    (`rules`, `model`, `later`, or `none`), `best_run` what became of the best run of the
    game, if this turn changed it, and `rewound` what was set aside before.
    """

    outcome: str = ""
    episode: int | None = None
    turn: int | None = None
    place: Place | None = None
    effect: str = ""
    visits: int = 0
    triggers: tuple[str, ...] = ()
    memories: tuple[Written, ...] = ()
    invalidated: tuple[str, ...] = ()
    attempt: Attempt | None = None
    queued: bool = False
    reasoning: str | None = None
    judge: str = ""
    model: Model | None = None
    ephemeral_ended: int | None = None
    best_run: str | None = None
    rewound: Rewound | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Record):
    """A line of `record_all` that was refused, counted from 1."""

    line: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAll(Record):
    """What came of many turns: their number by outcome, those that were refused, and what the file holds now."""

    file: str = ""
    turn_count: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: tuple[Refused, ...] = ()
    place_count: int = 0
    memory_count: int = 0
    tried_count: int = 0
    stopped_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Way(Record):
    """A way that was walked from the place: the action, the place `to` which it led, and what opened it (`after`).

    `witnesses` are as those of an `Attempt`.
    """

    action: str = ""
    to: int = 0
    name: str = ""
    count: int = 0
    episode: int | None = None
    turn: int | None = None
    after: tuple[str, ...] = ()
    sometimes: tuple[str, ...] = ()
    witnesses: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Record):
    """What a person wrote at a place outside of entries."""

    heading: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Record):
    """What is shown of one scope: its memories, those that they link to, and the evidence of actions there.

    `best_run` says what the best run of the game does next from here. `…_left_out` counts what the budget had no room
    for.
    """

    scope: str = ""
    name: str = ""
    visits: int = 0
    episodes: tuple[int, ...] = ()
    memories: tuple[Memory, ...] = ()
    linked: tuple[Memory, ...] = ()
    best_run: str | None = None
    ways: tuple[Way, ...] = ()
    worked: tuple[Attempt, ...] = ()
    seen: tuple[Attempt, ...] = ()
    tried: tuple[Attempt, ...] = ()
    not_understood: tuple[Attempt, ...] = ()
    notes: tuple[Note, ...] = ()
    memories_left_out: int = 0
    ways_left_out: int = 0
    worked_left_out: int = 0
    seen_left_out: int = 0
    tried_left_out: int = 0
    notes_left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Record):
    """What is known of the scopes that were asked for. `str()` gives the text for a prompt.

    `tokens` is an estimate of the size of the text that is rounded up.
    """

    text: str = ""
    tokens: int = 0
    scopes: tuple[Section, ...] = ()

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories of all scopes, in the order of the text."""
        return tuple(memory for section in self.scopes for memory in section.memories)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Record):
    """Whether an action is in vain at a place. `bool()` says so: it is true for `in_vain` and `seen`.

    `verdict` is `in_vain`, `seen` (it only looks, and `reply` is what it showed), `may_be_tried` (`since` says what
    happened after the last try), `worked`, `unknown_effect` or `no`. `blocked` says that something that may pass was in
    the way, and `deadly` that the action killed. `count`, `episode`, `turn` and `reply` are those of the last try;
    `worked_at` and `leads_to` tell when it worked last, and where it led. `memories` are those that name the action.

    In a folder (`dir:src`) the action is a command, and the verdict may also be `other_circumstances` or `changed`:
    `changed` is what has changed since the command failed, `instead` what worked in its place.
    """

    verdict: str = "no"
    scope: str = ""
    action: str = ""
    memories: tuple[Memory, ...] = ()
    count: int = 0
    episode: int | None = None
    turn: int | None = None
    reply: str = ""
    deadly: bool = False
    blocked: bool = False
    since: str | None = None
    worked_at: Moment | None = None
    leads_to: Place | None = None
    changed: tuple[str, ...] = ()
    instead: str | None = None

    def __bool__(self) -> bool:
        return self.verdict in ("in_vain", "seen")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Record):
    """When a way was refused after it was last walked, and the reply."""

    episode: int | None = None
    turn: int | None = None
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Record):
    """A step of a path: an action that leads from one place to the next, and those that opened the way (`after`).

    What makes it doubtful is told: that it was refused since it was last walked (`refused_since`), or killed
    (`deadly`), and where else it led (`sometimes_to`).
    """

    action: str = ""
    start: Place | None = field(default=None, metadata={"keys": ("from",)})
    to: Place | None = None
    count: int = 0
    episode: int | None = None
    turn: int | None = None
    after: tuple[str, ...] = ()
    refused_since: Refusal | None = None
    sometimes_to: tuple[Place, ...] = ()
    led_elsewhere_since: bool = False
    deadly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Path(Record):
    """The shortest known way between two places, as `actions`. `bool()` says whether one is known."""

    known: bool = False
    start: Place | None = field(default=None, metadata={"keys": ("from",)})
    to: Place | None = None
    actions: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    def __bool__(self) -> bool:
        return self.known


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexplored(Record):
    """A place with directions that were never tried there, and the actions that lead to it.

    The most promising directions come first; the description of the place names those in `named`.
    `steps` and `actions` are `None` where no way to it is known.
    """

    id: int = 0
    name: str = ""
    steps: int | None = None
    actions: tuple[str, ...] | None = None
    directions: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier(Record):
    """Places with directions that were never tried, the most promising first. `left_out` is the number of further ones."""

    start: Place | None = field(default=None, metadata={"keys": ("from",)})
    places: tuple[Unexplored, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteStep(Record):
    """An action of the best run: where it is taken, as far as known ways say so, and its `gain`, such as `+10`.

    `done` says that it worked in the running episode.
    """

    action: str = ""
    place: Place | None = None
    gain: str | None = None
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Record):
    """The best run of the game, or a part of it. `bool()` says whether one is known.

    `episode` and `score` are those of the run. The actions in `back` lead to the first of `actions`.
    """

    known: bool = False
    episode: int | None = None
    score: int | None = None
    back: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    steps: tuple[RouteStep, ...] = ()

    def __bool__(self) -> bool:
        return self.known


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(Record):
    """What gained points: `gain` (`+10`, `won`, `reached` or `done`), the place, and the action or a memory's title.

    Of a gain of the best run, `count` is the number of episodes that made it so, and `failed` the episode in which it
    was denied. `done` says that the running episode made it.
    """

    gain: str = ""
    place: Place | None = None
    action: str = ""
    episode: int | None = None
    turn: int | None = None
    writer: str | None = None
    in_best_run: bool = False
    count: int | None = None
    failed: int | None = None
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction(Record):
    """What came of one title that was to be corrected; `why` explains it where it stays."""

    outcome: str = ""
    scope: str = ""
    title: str = ""
    persistence: str | None = None
    contested: tuple[Contested, ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Record):
    """What came of a correction: whether the file changed, and a result for each title."""

    changed: bool = False
    results: tuple[Correction, ...] = ()
