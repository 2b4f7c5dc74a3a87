"""Items of LangGraph's store as memories of the file, and back: pure functions, for `memories.langgraph`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import count
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

#: Characters that the program replaces in a text.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_PLAIN = re.compile(rf"(?!\s)[^{_CONTROLS}]+(?<!\s)")
#: Scopes that are namespaces, in the form in which the file has them.
_SCOPE = re.compile(
    "world|scene|(npc|agent|topic):[a-z0-9_-]+|dir:(?!.{401})(/|[A-Za-z0-9_@+-]+(/[A-Za-z0-9_@+-]+)*)"
    "|location:(0|[1-9][0-9]{0,8}|(?=.*[a-z])[a-z0-9_-]{1,64})"
)
#: What a value may name beside its text, and what a memory has that does not state it.
_USUAL: dict[str, Any] = {"category": "NOTE", "importance": 500}


@dataclass(frozen=True)
class Entry:
    """A live memory of the file, with namespace and key of the item that it is."""

    scope: str
    fields: Mapping[str, Any]
    namespace: tuple[str, ...] = ()
    key: str = ""

    @property
    def title(self) -> str:
        """The title of the memory."""
        return str(self.fields["title"])

    @property
    def value(self) -> dict[str, Any]:
        """The value of the item."""
        if "json" in self.fields.get("tags", ()):
            try:
                return dict(json.JSONDecoder().raw_decode(self.fields["text"])[0])
            except (TypeError, ValueError):
                pass  # A person has changed the text.
        named = {name: self.fields[name] for name, usual in _USUAL.items() if self.fields.get(name, usual) != usual}
        return {_tagged(self.fields, "field") or "text": self.fields["text"], **named}

    def is_in(self, scope: str) -> bool:
        """True if it stands in the section of a scope, which may be a text id such as `location:town-square`."""
        place = "location:" + re.sub("[_ ]", "-", self.fields["name"].strip().lower())
        is_called = self.scope.startswith("location:") and place == scope.replace("_", "-")
        return is_called or self.scope == scope

    @property
    def created(self) -> datetime:
        """When the item was put for the first time; 1970 where the file does not say."""
        return _time(_tagged(self.fields, "created") or self.fields.get("date"))

    @property
    def item(self) -> dict[str, Any]:
        """The arguments of LangGraph's `Item`."""
        times = {"created_at": self.created, "updated_at": _time(self.fields.get("date"))}
        return {"namespace": self.namespace, "key": self.key, "value": self.value, **times}


def entries_of(section: Mapping[str, Any]) -> Iterator[Entry]:
    """The memories of an exported section. One without an address is an item of the namespace of those that have one,
    else of the section's scope, and its title is its key."""
    memories = [{**memory, **memory["fields"], "name": section["name"]} for memory in section["memories"]]
    tags = [_tagged(memory, "item") for memory in memories]
    paths = [tag and [unquote(part, errors="surrogatepass") for part in tag.split("/")] for tag in tags]
    home = next((path[:-1] for path in paths if path), section["scope"].split(":"))
    for memory, path in zip(memories, paths, strict=True):
        *namespace, key = path or (*home, memory["title"])
        yield Entry(section["scope"], memory, tuple(namespace), key)


def copied(entries: Iterable[Entry]) -> InMemoryStore:
    """The same items in LangGraph's own store, which says what conditions mean."""
    copy = InMemoryStore()
    copy.batch([PutOp(entry.namespace, entry.key, entry.value) for entry in entries])
    return copy


def has(entry: Entry, wanted: dict[str, Any] | None) -> bool:
    """True if an item meets a filter. What is less or greater than a number is a number."""
    try:
        return not wanted or bool(copied([entry]).batch([SearchOp((), wanted)])[0])
    except TypeError:
        return False


def scope_of(namespace: tuple[str, ...]) -> str:
    """The scope in which new items of a namespace are stored."""
    if _SCOPE.fullmatch(scope := ":".join(namespace)):
        return scope
    name = "-".join(namespace)
    plain = re.sub(r"[^a-z0-9_]+", "-", name.lower())[:40].strip("-")
    return f"topic:{plain}" if plain and plain == name else f"topic:{plain or 'store'}-{_mark(name)}"


def fields_of(
    namespace: tuple[str, ...], key: str, value: Mapping[str, Any], *, old: Entry | None, others: Sequence[Entry]
) -> dict[str, Any]:
    """The fields of the memory that holds an item. `old` is the one that it replaces, and `others` are those beside it.

    Raises `TypeError` or `ValueError` if the value is not JSON.
    """
    mark = _mark("/".join((*namespace, key)))
    fields = _plain(value) or {"text": _json(value), "tags": ["json"]}
    if any(_says_the_same(fields["text"], other.fields["text"]) for other in others):
        fields = {"text": f"{_json(value)}\n(item 0x{mark})", "tags": ["json"]}
    path = [re.sub(rf"[%/{_CONTROLS}]|^ | $|(?! )\s", _quote, part) for part in (*namespace, key)]
    created = [f"created:{old.created.isoformat()}"] if old and "date" in old.fields else []
    fields["tags"] = ["item:" + "/".join(path), *fields["tags"], *created]
    fields["title"] = old.title if old else _title(key, mark, fields, others)
    if not old and not others and scope_of(namespace) != ":".join(namespace):
        fields["name"] = "/".join(path[:-1])
    return {**fields, "date": datetime.now(timezone.utc).isoformat()}


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True if two values are the same JSON, in which `1` and `true` differ."""
    return json.dumps(dict(one), sort_keys=True) == json.dumps(dict(other), sort_keys=True)


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a value that can stand in the file as a text; empty if it cannot."""
    named = {name: value[name] for name in _USUAL if name in value}
    names = [name for name in value if name not in named]
    text = value[names[0]] if len(names) == 1 and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", names[0]) else None
    is_text = isinstance(text, str) and _PLAIN.fullmatch(text)
    is_category = re.fullmatch("[A-Z][A-Z_]*", str(named.get("category", "FACT")))
    importance = named.get("importance", 1)
    if not (is_text and is_category and type(importance) is int and 1 <= importance <= 1000):
        return {}
    fields = {"text": text, "tags": [f"field:{name}" for name in names if name != "text"], **named}
    return fields if Entry("", fields).value == value else {}


def _json(value: Mapping[str, Any]) -> str:
    """A value as JSON, without characters that the program would replace."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    text = re.sub(f"[{_CONTROLS}]", lambda found: f"\\u{ord(found[0]):04x}", text)
    if json.loads(text) != value:
        raise ValueError(f"the value is not JSON: {value!r}")
    return text


def _title(key: str, mark: str, fields: Mapping[str, Any], others: Sequence[Entry]) -> str:
    """A title for a new item: its key, or the first words of a text whose key is a UUID; marked if it is in use."""
    is_uuid = re.fullmatch(r"[0-9a-fA-F-]{32,36}", key) and "json" not in fields["tags"]
    words = " ".join(fields["text"].split()[:6]) if is_uuid else key
    title = " ".join(re.sub(r"[^\w .,:'@+/-]+", " ", words)[:60].split())
    is_free = all(title.casefold() != other.title.casefold() for other in others)
    return title if title and is_free else f"{title} {mark}".strip()


def next_title(title: str, others: Sequence[Entry]) -> str:
    """The title of what supersedes a memory: with a number that grows, `food (2)` behind `food`.

    The file names what supersedes by its title, and of one title a memory would supersede itself once none is live.
    The program cuts titles at 80 characters.
    """
    found = re.search(r" \(([0-9]{1,9})\)$", title)
    base, number = (title[: found.start()], int(found[1])) if found else (title, 1)
    taken = {other.title.casefold() for other in others}
    numbered = (f"{base[:68]} ({at})" for at in count(number + 1))
    return next(title for title in numbered if title.casefold() not in taken)


def _says_the_same(one: str, other: str) -> bool:
    """True if the program might take two texts for the same."""
    texts = (" ".join(text.split()).rstrip(".!…").lower().encode() for text in (one, other))
    short, long = sorted(texts, key=len)
    return short == long or (short in long and 5 * len(short) > 4 * len(long))


def _tagged(fields: Mapping[str, Any], name: str) -> str | None:
    """The value of a tag `#name:value`."""
    return next((tag[len(name) + 1 :] for tag in fields.get("tags", ()) if tag.startswith(f"{name}:")), None)


def _time(text: str | None) -> datetime:
    try:
        time = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        time = datetime.fromtimestamp(0, timezone.utc)
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _quote(found: re.Match[str]) -> str:
    return quote(found[0], safe="", errors="surrogatepass")


def _mark(text: str) -> str:
    """Eight digits and letters that tell this text from others."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
