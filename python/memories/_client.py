"""`Memories`: the calls of the program as methods."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, overload

from memories import _arguments, _process
from memories._arguments import text_of
from memories._errors import MemoriesError
from memories._lines import Lines
from memories._session import Session
from memories._types import (
    Answered,
    Corrected,
    Found,
    Frontier,
    Goal,
    Memory,
    Path,
    Place,
    Recalled,
    Recorded,
    RecordedAll,
    Rewound,
    Route,
    Summarized,
    Tried,
    Turn,
    Written,
)

if TYPE_CHECKING:
    from typing_extensions import Self


#: Lines of the journal among which a turn is looked for whose call broke off: others may write meanwhile.
RECENT = 1000

#: Longest time limit in seconds that systems take, more than ten days.
LONGEST = 1_000_000.0


class Memories:
    """A memory file, read and written by the program `memories`.

    `path` is the file; one that does not exist is an empty memory, and is written with the first turn. `program` is the
    program, by default the one that was installed with this module, else `memories` on the path. `config` is a settings
    file, by default `memories.toml` beside the memory file or above. `timeout` is the number of seconds after which a
    call is ended; `None` waits for ever.

    Places are ids, `Place`s, or texts: an id, an id of your own such as `"location:town-square"`, or a name that only
    one place has. A scope is a place, or a text such as `"npc:troll"` or `"world"`.

    With `session`, one `memories mcp` answers the calls that it can, in a tenth to a third of the time that a process
    takes. It starts with the first of them, with the settings as they are then, and ends with `close` or the
    interpreter. These are `record` (unless a turn has `id`, moves, `timestamp` or `remember_category`), and `recall` of
    one scope, `tried`, `top`, `path` and `frontier` with their defaults, and `route` with a start, where places are told
    by ids. All others are processes; the values and errors are the same.

    Calls that read take `as_of`, a moment of the past (`"3.120"` is turn 120 of episode 3, `"3"` the end of episode 3;
    also a day, a time or a git revision), and `viewer`, the id of a character: then the answer has what that character
    knows, and nothing of what others witnessed. `tried` and `summarize` take `viewer` alone. Such calls are processes.

    Each method raises `MemoriesError`. Where a session broke off or took too long, its call is not repeated, and the
    next one starts another session. Of a turn the error says whether it was recorded (`stored`). Warnings of the
    program go to the logger `memories`, but for those that are in an answer; a session gives those of its start once,
    and does not look for lines of the file that cannot be read as they were meant, as `run("check")` does. An object
    may be used by several threads.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = "Memories.md",
        *,
        session: bool = False,
        program: str | os.PathLike[str] | None = None,
        config: str | os.PathLike[str] | None = None,
        timeout: float | None = 60,
    ) -> None:
        # A later change of the working folder shall not lead to another file.
        if timeout is not None and not timeout > 0:
            raise ValueError("`timeout` is a number of seconds above 0, or None")
        named = _process.find_program() if program is None else os.fspath(program)
        self._command = [
            # A name alone is looked for on the path.
            os.path.abspath(named) if os.path.dirname(named) else named,
            *("--json", "--quiet", "--file", _process.check(os.path.abspath(path))),
            *(() if config is None else ("--config", _process.check(os.path.abspath(config)))),
        ]
        self._timeout = None if timeout is None else min(timeout, LONGEST)
        self._wants_session, self._starting = session, threading.Lock()
        self._session: Session | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def record(self, turn: Turn | Mapping[str, Any], *, new_place: bool = False) -> Recorded:
        """Records a turn: a `Turn`, or a dictionary with the fields of `docs/schema/turn.json`.

        With `new_place` a place that has only a name gets the next free id.
        """
        data = turn.to_json() if isinstance(turn, Turn) else turn
        begun = time.time()
        try:
            answer = self._tool("record_turn", _arguments.of_turn(data, new_place))
        except MemoriesError as error:
            raise self._unanswered(error, data, begun) from None
        if answer is None:
            answer = self._run("record", *_flag("--new-place", new_place), data=_process.to_json(data))
        return Recorded.from_json(answer)

    def record_all(self, turns: Iterable[Turn | Mapping[str, Any]], *, new_place: bool = False) -> RecordedAll:
        """Records many turns at once, which is much faster than one after the other.

        A turn that is refused is in `failed` of the answer and leaves the others alone. A turn with an `id` or a number
        that was recorded before is not recorded again. `timeout` holds for each turn.
        """
        lines = [_process.to_json(turn.to_json() if isinstance(turn, Turn) else turn) for turn in turns]
        timeout = None if self._timeout is None else min(self._timeout * max(1, len(lines)), LONGEST)
        arguments = ("record", "--turns", "-", *_flag("--new-place", new_place))
        return RecordedAll.from_json(self._run(*arguments, data=b"\n".join(lines), timeout=timeout))

    def recall(
        self,
        *scopes: int | str | Place,
        max_tokens: int | None = None,
        as_of: str | None = None,
        viewer: str | None = None,
    ) -> Recalled:
        """What matters at one or more scopes, in at most `max_tokens` (by default 300) for all of them together."""
        reading = _reading(as_of, viewer)
        answer = self._tool("get_location_memories", None if reading else _arguments.of_recall(scopes, max_tokens))
        if answer is None:
            options = (*_option("--max-tokens", max_tokens), *reading)
            answer = self._run("recall", *options, "--", *map(text_of, scopes))
        return Recalled.from_json(answer)

    def tried(self, place: int | str | Place, action: str, *, viewer: str | None = None) -> Tried:
        """Whether an action was tried at a place in vain, and why."""
        # As it is recorded. No program can be given a NUL character.
        action = _process.check(action.replace("\0", "\ufffd"))
        reading = _reading(None, viewer)
        answer = self._tool("check_action", None if reading else _arguments.of_action(place, action))
        if answer is None:
            answer = self._run("tried", *reading, "--", text_of(place), action)
        return Tried.from_json(answer)

    @overload
    def query(
        self,
        question: str,
        *,
        number: int | None = None,
        scopes: Iterable[int | str | Place] = (),
        categories: Iterable[str] = (),
        by_time: bool = False,
        answer: Literal[False] = False,
        as_of: str | None = None,
        viewer: str | None = None,
    ) -> list[Found]: ...

    @overload
    def query(
        self,
        question: str,
        *,
        number: int | None = None,
        scopes: Iterable[int | str | Place] = (),
        categories: Iterable[str] = (),
        answer: Literal[True],
        as_of: str | None = None,
        viewer: str | None = None,
    ) -> Answered: ...

    def query(
        self,
        question: str,
        *,
        number: int | None = None,
        scopes: Iterable[int | str | Place] = (),
        categories: Iterable[str] = (),
        by_time: bool = False,
        answer: bool = False,
        as_of: str | None = None,
        viewer: str | None = None,
    ) -> list[Found] | Answered:
        """The memories that answer a question, the most relevant first: at most `number`, by default those of the
        settings; with `scopes` or `categories` only from these. With `by_time` those that surely match, or else the
        nearest, in the order of time.

        With `answer`, a model reads them and answers; where it cannot be asked, `model.error` of the answer says why.
        """
        flags = (
            *_flag("--answer", answer),
            *_flag("--by-time", by_time),
            *_option("--number", number),
            *(flag for scope in scopes for flag in _option("--scope", text_of(scope))),
            *(flag for category in categories for flag in _option("--category", category)),
            *_reading(as_of, viewer),
        )
        found = Answered.from_json(self._run("query", *flags, "--", question))
        return found if answer else list(found.memories)

    def summarize(self, scope: int | str | Place, *, viewer: str | None = None) -> Summarized:
        """What a model says in two or three sentences of all that is known of a place or character."""
        return Summarized.from_json(self._run("summarize", *_reading(None, viewer), "--", text_of(scope)))

    def top(self, number: int = 10, *, as_of: str | None = None, viewer: str | None = None) -> list[Memory]:
        """The most important memories of all places, 1 to 20."""
        reading = _reading(as_of, viewer)
        is_of_tool = 1 <= number <= 20 and not reading
        answer = self._tool("get_top_memories", {"limit": number} if is_of_tool else None)
        if answer is None:
            answer = self._run("top", f"--number={number}", *reading)
        return [Memory.from_json(memory) for memory in answer.get("memories", ())]

    def path(
        self,
        to: int | str | Place,
        *,
        start: int | str | Place | None = None,
        as_of: str | None = None,
        viewer: str | None = None,
    ) -> Path:
        """The shortest known way from `start`, by default the place where you are."""
        reading = _reading(as_of, viewer)
        answer = self._tool("find_path", None if reading else _arguments.of_ways(to=to, **{"from": start}))
        if answer is None:
            # `--` may not stand before two places, so a space keeps a name with `-` from being a flag.
            begin = () if start is None else (re.sub("^-", " -", text_of(start)),)
            answer = self._run("path", *reading, *begin, "--", text_of(to))
        return Path.from_json(answer)

    def frontier(
        self,
        start: int | str | Place | None = None,
        *,
        number: int = 10,
        as_of: str | None = None,
        viewer: str | None = None,
    ) -> Frontier:
        """Directions that were never tried, nearest place first; `start` is by default where you are."""
        reading = _reading(as_of, viewer)
        is_of_tool = number == 10 and not reading
        answer = self._tool("unexplored", _arguments.of_ways(**{"from": start}) if is_of_tool else None)
        if answer is None:
            begin = () if start is None else (text_of(start),)
            answer = self._run("frontier", f"--number={number}", *reading, "--", *begin)
        return Frontier.from_json(answer)

    def route(
        self,
        goal: str | None = None,
        *,
        start: int | str | Place | None = None,
        as_of: str | None = None,
        viewer: str | None = None,
    ) -> Route:
        """The best run of the game, or the part up to `goal`: a place, a gain such as `+10`, or words of an action.

        With `start` it is what the running episode has still to do of it from that place; `"."` is where you are: where
        its last turn ended, and before its first turn where the game begins.
        """
        reading = _reading(as_of, viewer)
        answer = self._tool("next_steps", None if reading else _arguments.of_route(goal, start))
        if answer is None:
            begin = None if start is None else text_of(start)
            options = (*_option("--from", begin), *reading)
            answer = self._run("route", *options, "--", *(() if goal is None else (goal,)))
        return Route.from_json(answer)

    def goals(self, *, as_of: str | None = None, viewer: str | None = None) -> list[Goal]:
        """What gained points: the gains of the best run in its order, then those that memories of places tell of."""
        return [Goal.from_json(goal) for goal in self._run("goals", *_reading(as_of, viewer)).get("goals", ())]

    def add(self, scope: int | str | Place, text: str, *, new_place: bool = False, **fields: Any) -> Written:
        """Stores a memory in the caller's words. A text that is there already is not stored twice.

        `fields` are those of `memories add`: `title`, `category`, `importance` (1 to 1000), `persistence`, `status`,
        `name` (of the section), `episode`, `turn`, `tags`, `source`, `date`, `goal`, `context`, `speaker` and others.
        """
        memory = _process.to_json({"text": text, **fields})
        return Written.from_json(self._run("add", *_flag("--new-place", new_place), "--", text_of(scope), data=memory))

    def supersede(self, scope: int | str | Place, titles: str | Sequence[str], text: str, **fields: Any) -> Corrected:
        """Puts a better memory in the place of those with these exact titles. `fields` are those of `add`."""
        return self._correct("supersede", scope, titles, text=text, **fields)

    def invalidate(
        self, scope: int | str | Place, titles: str | Sequence[str], reason: str, **fields: Any
    ) -> Corrected:
        """Strikes memories that are proven wrong. `fields` are `episode` and `turn` of the proof."""
        return self._correct("invalidate", scope, titles, reason=reason, **fields)

    def start_episode(self, episode: int | str | None = None) -> int:
        """Starts the next episode, or that one, and gives its number. Ephemeral memories end."""
        answer = self._run("episode", "start", *(() if episode is None else ("--", str(episode))))
        return int(answer.get("episode", 0))

    def rewind(self, turn: int, *, episode: int | str | None = None, dry_run: bool = False) -> Rewound:
        """Sets aside what was recorded after that turn of the running episode, or of another: a save was restored.

        With `dry_run` the answer says what that would be.
        """
        options = (*_option("--episode", episode), *_flag("--dry-run", dry_run))
        return Rewound.from_json(self._run("episode", "rewind", "--turn", str(turn), *options))

    def lines(self, *arguments: str) -> Lines:
        """A program that answers each line of JSON with one, such as `memory-tool --lines`, for other modules."""
        return Lines([*self._command, *map(_process.check, arguments)], self._timeout)

    def run(self, *arguments: object, input: str | None = None) -> dict[str, Any]:
        """Runs any other command, such as `run("list")`, and gives its JSON (`docs/schema`).

        Commands that print a line for each entry (`log`, `retry --follow`) give them as `{"lines": [...]}`. An answer
        that is a no (exit code 1) is an answer, too.
        """
        return self._run(*map(str, arguments), data=None if input is None else _process.encode(input))

    def close(self) -> None:
        """Ends the session, if there is one. A later call starts another."""
        with self._starting:
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def _tool(self, name: str, arguments: dict[str, Any] | None) -> dict[str, Any] | None:
        """The answer of the session; `None` where it has none or is not wanted, and the command line is to be asked."""
        if not self._wants_session or arguments is None:
            return None
        with self._starting:
            if self._session is None or not self._session.is_usable:
                self._session = Session([*self._command, "mcp", "--tools", "places"], self._timeout)
            session = self._session
        return session.call(name, arguments)

    def _unanswered(self, error: MemoriesError, turn: Mapping[str, Any], begun: float) -> MemoriesError:
        """The error of a turn; if no program answered, with what the journal says of it."""
        if error.code not in (None, 70):
            return error
        stored = None
        # With a clock that is set, the journal does not tell when.
        if "MEMORIES_NOW" not in os.environ:
            with contextlib.suppress(MemoriesError):
                stored = _arguments.is_recorded(turn, begun, self._run("log", f"--lines={RECENT}")["lines"])
        said = {None: "it is not known whether the turn was recorded", True: "the turn was recorded"}
        hints = {None: "`memories log` shows what was recorded", True: "do not record it again"}
        message = f"{error.message}; {said.get(stored, 'the turn was not recorded')}"
        hint = error.hint or hints.get(stored, "record it again")
        return MemoriesError(message, hint, error.code, stored=stored)

    def _run(self, *arguments: str, data: bytes | None = None, timeout: float | None = None) -> dict[str, Any]:
        command = [*self._command, *map(_process.check, arguments)]
        lines = arguments[:1] == ("log",) or "--follow" in arguments
        return _process.run(command, data, self._timeout if timeout is None else timeout, lines=lines)

    def _correct(self, command: str, scope: int | str | Place, titles: str | Sequence[str], **fields: Any) -> Corrected:
        named = [titles] if isinstance(titles, str) else list(titles)
        correction = {"command": command, "scope": text_of(scope), "titles": named, **fields}
        return Corrected.from_json(self._run(command, data=_process.to_json(correction)))


def _flag(name: str, is_set: bool) -> tuple[str, ...]:
    return (name,) if is_set else ()


def _reading(as_of: str | None, viewer: str | None) -> tuple[str, ...]:
    return (*_option("--as-of", as_of), *_option("--as", viewer))


def _option(name: str, value: int | str | None) -> tuple[str, ...]:
    return () if value is None else (f"{name}={value}",)
