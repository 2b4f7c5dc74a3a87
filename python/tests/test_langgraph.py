"""The store of LangGraph, against LangGraph's own store in memory and in a graph."""

from __future__ import annotations

import asyncio
import json
import random
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypedDict

import pytest

from memories import Memories, MemoriesError

pytest.importorskip("langgraph", reason="needs requirements-adapters.txt")
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from memories.langgraph import MemoriesStore

Address = tuple[tuple[str, ...], str]


@pytest.fixture
def store(memories: Memories) -> MemoriesStore:
    return MemoriesStore(memories)


def test_items_are_memories_that_people_read(store: MemoriesStore, memories: Memories, tmp_path: Path) -> None:
    store.put(("npc", "troll"), "gifts", {"text": "Takes lunch, and attacks all the same.", "category": "DANGER"})
    store.put(("memories", "user-1"), "food", {"content": "Likes pizza.", "importance": 800})
    store.put(("memories", "user-1"), "theme", {"dark": True, "sizes": [1, 2.5]})
    store.put(("memories", "user-1"), "0b0c2a4e-7c1b-4b6e-9a51-0c8a5d3f1e2d", {"text": "Owns a red dog with one eye."})
    lines = [line.partition(" *(")[0] for line in (tmp_path / "Memories.md").read_text().splitlines() if line]
    assert lines == [
        "# Location Memories",
        "## NPC troll:",
        "### Memories",
        "**[DANGER] gifts**",
        "Takes lunch, and attacks all the same.",
        "---",
        "## Topic memories-user-1: memories/user-1",
        "### Memories",
        "**[NOTE] food**",
        "Likes pizza.",
        "**[NOTE] theme**",
        '{"dark": true, "sizes": [1, 2.5]}',
        "**[NOTE] Owns a red dog with one**",
        "Owns a red dog with one eye.",
        "---",
    ]
    assert "(importance 800" not in str(lines) and memories.recall("npc:troll").memories[0].category == "DANGER"


def test_what_people_and_games_write_are_items(store: MemoriesStore, memories: Memories, tmp_path: Path) -> None:
    memories.add(23, "A rug lies here.", title="Rug", category="FACT", importance=700)
    memories.add("location:town-square", "A market.", title="Market")
    assert store.search(("location", "23"))[0].value == {
        "text": "A rug lies here.",
        "category": "FACT",
        "importance": 700,
    }
    store.put(("location", "town-square"), "fair", {"text": "It opens on Mondays."})
    assert {item.key for item in store.search(("location", "town-square"))} == {"Market", "fair"}
    file = tmp_path / "Memories.md"
    edited = file.read_text().replace("] fair**", "] The fair**").replace("on Mondays", "on Tuesdays")
    file.write_text(edited.replace("**[FACT] Rug**", "**[NOTE] By hand**\nA nail.\n\n**[FACT] Rug**"))
    fair = store.get(("location", "town-square"), "fair")
    assert fair is not None and fair.value == {"text": "It opens on Tuesdays."}
    by_hand = store.get(("location", "23"), "By hand")
    assert by_hand is not None and by_hand.created_at == datetime(1970, 1, 1, tzinfo=timezone.utc)
    store.put(("location", "23"), "Rug", {"text": "A trap door.", "category": "FACT", "importance": 700})
    (rug,) = [memory for memory in memories.recall(23).memories if memory.title == "Rug (2)"]
    assert (rug.text, rug.importance) == ("A trap door.", 700)
    assert "~~A rug lies here.~~" in file.read_text()


@pytest.mark.parametrize("history", [True, False])
def test_what_is_replaced_or_deleted_is_struck_or_removed(history: bool, memories: Memories, tmp_path: Path) -> None:
    store = MemoriesStore(memories, history=history)
    store.put(("world",), "dam", {"text": "Closed."})
    first = store.get(("world",), "dam")
    store.put(("world",), "dam", {"text": "Open."})
    second = store.get(("world",), "dam")
    assert first is not None and second is not None
    assert first.created_at == first.updated_at == second.created_at < second.updated_at
    store.delete(("world",), "dam")
    store.delete(("world",), "dam")
    assert store.get(("world",), "dam") is None and store.search(()) == store.list_namespaces() == []
    text = (tmp_path / "Memories.md").read_text()
    assert ("~~Closed.~~" in text, "~~Open.~~" in text, 'Invalidated at Ep1: "deleted"' in text) == (history,) * 3
    store.put(("world",), "dam", {"text": "Open."})
    assert store.search(())[0].value == {"text": "Open."}


@pytest.mark.parametrize("title", ["k", "K (1)", "x" * 80, "x" * 75 + " (9)"])
def test_no_memory_supersedes_itself(title: str, memories: Memories) -> None:
    store = MemoriesStore(memories)
    memories.add("topic:u", "The first words.", title=title, tags=["item:u/k"])
    memories.add("topic:u", "Something else.", title="k (3)", tags=["item:u/l"])
    for word in ("pizza", "tuna", "bread", "", "rice", "soup", ""):
        store.put(("u",), "k", {"text": f"All like {word} now."}) if word else store.delete(("u",), "k")
        item = store.get(("u",), "k")
        assert (item and item.value) == ({"text": f"All like {word} now."} if word else None)
        assert memories.run("check")["problems"] == []


def test_the_same_value_is_not_written_again(store: MemoriesStore, tmp_path: Path) -> None:
    for value in ({"text": "A", "importance": 1}, {"a": 1}, {"a": True}):
        store.put(("world",), "k", value)
        before = (tmp_path / "Memories.md").read_bytes()
        store.put(("world",), "k", dict(reversed(value.items())))
        assert (tmp_path / "Memories.md").read_bytes() == before
    item = store.get(("world",), "k")
    assert item is not None and item.value["a"] is True


def test_many_items_may_say_the_same(store: MemoriesStore) -> None:
    texts = ["Likes pizza.", "likes  pizza", "Likes pizza!", "Likes pizza.", '{"text": "Likes pizza."}']
    for number, text in enumerate(texts):
        store.put(("memories", "u"), f"key {number}", {"text": text})
    assert [item.value["text"] for item in reversed(store.search(("memories",)))] == texts
    store.put(("memories", "u"), "key 0", {"text": "Likes pizza.", "importance": 900})
    item = store.get(("memories", "u"), "key 0")
    assert item is not None and item.value == {"text": "Likes pizza.", "importance": 900}


def test_a_text_may_stay_where_other_parts_change(store: MemoriesStore, tmp_path: Path) -> None:
    values: list[dict[str, Any]] = [{"text": "Hot."}, {"text": "Hot.", "importance": 900}, {"content": "Hot."}]
    for value in [*values, {"text": "hot"}]:
        store.put(("world",), "stove", value)
        assert [item.value for item in store.search(())] == [value]
    assert (tmp_path / "Memories.md").read_text().count("Hot.") == 1, "what did not change is not struck"


@pytest.mark.parametrize(
    "value", [{"at": datetime(2026, 1, 1)}, {"a": (1,)}, {1: "a"}, {"a": float("nan")}, {"a": {1}}]
)
def test_a_value_that_is_no_json_is_refused(store: MemoriesStore, value: dict[Any, Any], tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError)):
        store.put(("world",), "k", value)
    assert not (tmp_path / "Memories.md").exists()


def test_search_ranks_filters_and_pages(store: MemoriesStore) -> None:
    for number in range(12):
        store.put(("memories", f"u{number % 2}"), f"k{number}", {"text": f"Door number {number} is shut.", "n": number})
    store.put(("memories", "u0"), "lamp", {"text": "The brass lamp lights dark cellars."})
    store.put(("memories", "u1"), "light", {"text": "A torch burns for an hour."})
    store.put(("other",), "lamp", {"text": "Another lamp stands in the attic."})
    found = store.search(("memories",), query="which lamp lights a dark place?")
    assert found[0].key == "lamp" and {item.namespace[0] for item in found} == {"memories"}
    scores = [item.score or 0.0 for item in found]
    assert scores == sorted(scores, reverse=True) and min(scores) > 0
    assert [item.key for item in store.search(("memories",), filter={"n": {"$gte": 9}})] == ["k11", "k10", "k9"]
    assert [item.key for item in store.search(("memories", "u1"), limit=2, offset=1)] == ["k11", "k9"]
    assert store.search(("memories",), query="zyxw vutsr", filter={"n": 3}) == []
    assert len(store.search((), limit=100)) == 15 and len(store.search((), query="  ")) == 10
    doors = store.search((), query="which doors are shut?", filter={"n": {"$lt": 3}})
    assert {item.key for item in doors} == {"k0", "k1", "k2"}


class Values:
    """Random values, keys and namespaces, with what text files, Markdown and JSON find hard."""

    parts = (
        *(
            "Word",
            "pizza",
            "北",
            "\n",
            "\n\n",
            "\t",
            " ",
            "**",
            "**[NOTE] x** *(Ep1)*",
            "# H",
            "---",
            "<!--",
            "-->",
            "`",
        ),
        *("```", "\\", "Context: c", "See also: [[x]]", '[Superseded at Ep2 T45 by "t"]', "~~x~~", "- l", "> q", "#t"),
        *("\u200b", "\u00a0", "😀", "e\u0301", "\0", "\x1b", "\r", "\x85", "\u2028", "\ud800", "'", '"', "{", "}", "."),
    )
    namespaces = (
        *(("world",), ("scene",), ("npc", "troll"), ("npc", "Troll X"), ("agent", "alex"), ("topic", "memories-u1")),
        *(("topic", "release"), ("dir", "/"), ("dir", "src/search"), ("dir", "src//x"), ("dir", "a", "b")),
        *(("location", "23"), ("location", "town-square"), ("location", "007"), ("memories", "u1"), ("docs",)),
        *(("memories", "u-1"), ("memories-u", "1"), ("Übung", "北 京", "a/b%c"), ("dialogue",), ("a", "b", "c", "d")),
    )
    keys = (
        "k",
        "K",
        "food",
        "Food ",
        "x" * 99,
        "x" * 99 + "y",
        "a/b",
        "%2F",
        "",
        " ",
        "\n",
        "**",
        "[x]",
        "(Ep1)",
        "-n",
    )

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return "".join(self.random.choices(self.parts, k=self.random.randint(0, 5)))

    def address(self) -> Address:
        return self.random.choice(self.namespaces), self.random.choice((*self.keys, self.text()))

    def value(self) -> dict[str, Any]:
        if self.random.random() < 0.5:
            return {
                self.random.choice(("a", "text", self.text())): self.part() for _ in range(self.random.randint(0, 3))
            }
        value: dict[str, Any] = {self.random.choice(("text", "content", "data")): self.text()}
        if self.random.random() < 0.3:
            value["category"] = self.random.choice(("DANGER", "NOTE", "EVENT", "CORE", "note", 5))
        if self.random.random() < 0.3:
            value["importance"] = self.random.choice((1, 500, 700, 1000, 1001, True, 7.0))
        return value

    def part(self, depth: int = 0) -> Any:
        if depth > 1 or self.random.random() < 0.6:
            return self.random.choice((None, True, 0, -5, 2.5, 1e300, 10**20, "NOTE", self.text(), self.text()))
        return [self.part(depth + 1) for _ in range(2)] if self.random.random() < 0.5 else self.value()


def contents(store: BaseStore) -> dict[Address, str]:
    """All items, and their values as JSON, in which `1` and `true` differ."""
    items = store.search((), limit=10_000)
    return {(item.namespace, item.key): json.dumps(item.value, sort_keys=True) for item in items}


@pytest.mark.parametrize(("seed", "history"), [(1, True), (2, False), (3, True)])
def test_random_operations_do_what_langgraphs_own_store_does(seed: int, history: bool, memories: Memories) -> None:
    store, oracle, values = MemoriesStore(memories, history=history), InMemoryStore(), Values(seed)
    put: list[Address] = []
    for step in range(125):
        chance, (namespace, key) = values.random.random(), values.address()
        if chance < 0.7:
            value = values.value()
            for each in (store, oracle):
                each.put(namespace, key, value)
            put.append((namespace, key))
            item = store.get(namespace, key)
            assert item is not None and json.dumps(item.value) == json.dumps(value), (namespace, key, value)
        elif chance < 0.9 and put:
            namespace, key = values.random.choice(put)
            for each in (store, oracle):
                each.delete(namespace, key)
            assert store.get(namespace, key) is None
        if step % 25 == 24:
            assert contents(store) == contents(oracle)
            same_answers(store, oracle, values)
            kinds = {problem["kind"] for problem in memories.run("check")["problems"]}
            # An item may say an importance of its own.
            assert kinds <= {"unseen", "low_importance"}, "all that is wrong is in the words of items"


def same_answers(store: MemoriesStore, oracle: InMemoryStore, values: Values) -> None:
    """Random questions. The oracle also lists namespaces without items, so it is filled anew."""
    fresh = InMemoryStore()
    fresh.batch([PutOp(item.namespace, item.key, item.value) for item in oracle.search((), limit=10_000)])
    namespace, _ = values.address()
    prefix = namespace[: values.random.randint(0, 2)]
    conditions: list[dict[str, Any]] = [
        {},
        {"category": "DANGER"},
        {"importance": {"$ne": 700}},
        {"text": values.text()},
    ]
    wanted = values.random.choice(conditions)
    for each in (store, fresh):
        assert contents_of(each, prefix, wanted) == contents_of(fresh, prefix, wanted)
    assert store.list_namespaces(limit=1000) == fresh.list_namespaces(limit=1000)
    shape: dict[str, Any] = {
        "max_depth": values.random.randint(1, 3),
        "limit": 5,
        "offset": values.random.randint(0, 3),
    }
    where: dict[str, Any] = values.random.choice([{"prefix": ("memories", "*")}, {"suffix": namespace[-1:]}, {}])
    assert store.list_namespaces(**where, **shape) == fresh.list_namespaces(**where, **shape)


def contents_of(store: BaseStore, prefix: tuple[str, ...], wanted: dict[str, Any]) -> list[Address]:
    found = store.search(prefix, filter=wanted, limit=10_000)
    return sorted((item.namespace, item.key) for item in found)


def test_a_batch_answers_from_the_state_before_it(store: MemoriesStore) -> None:
    oracle = InMemoryStore()
    namespace = ("memories", "u")
    for each in (store, oracle):
        each.put(namespace, "a", {"text": "old"})
        results = each.batch(
            [
                PutOp(namespace, "a", {"text": "new"}),
                GetOp(namespace, "a"),
                PutOp(namespace, "b", {"text": "first"}),
                PutOp(namespace, "b", {"text": "last"}),
                PutOp(namespace, "c", None),
                ListNamespacesOp(),
                SearchOp(("memories",)),
            ]
        )
        got, listed, found = results[1], results[5], results[6]
        assert getattr(got, "value", None) == {"text": "old"} and listed == [namespace]
        assert isinstance(found, list) and len(found) == 1
        assert [results[at] for at in (0, 2, 3, 4)] == [None] * 4
        assert {item.key: item.value["text"] for item in each.search(namespace)} == {"a": "new", "b": "last"}


def test_several_threads_and_stores_write_one_file(program: str, tmp_path: Path) -> None:
    async def main() -> None:
        file = tmp_path / "Memories.md"
        stores = [MemoriesStore(Memories(file, program=program)) for _ in range(2)]
        puts = [stores[at % 2].aput(("memories", "u"), f"k{at % 6}", {"text": f"Fact {at % 6}."}) for at in range(12)]
        await asyncio.gather(*puts)
        items = await stores[0].asearch(("memories",), limit=100)
        assert sorted(item.key for item in items) == [f"k{at}" for at in range(6)]
        await stores[1].adelete(("memories", "u"), "k0")
        assert await stores[0].aget(("memories", "u"), "k0") is None
        assert await stores[0].alist_namespaces() == [("memories", "u")]

    asyncio.run(main())


def test_a_put_gives_way_to_another_program(program: str, tmp_path: Path) -> None:
    class Overtaken(Memories):
        """A memory into which another program writes behind the first look of a `put`."""

        looks = 0

        def run(self, *arguments: object, input: str | None = None) -> dict[str, Any]:
            answer = super().run(*arguments, input=input)
            self.looks += 1
            if self.looks == 2:
                other.put(("world",), "dam", {"text": "Closed."})
            return answer

    file = tmp_path / "Memories.md"
    other = MemoriesStore(Memories(file, program=program))
    other.put(("world",), "gate", {"text": "Locked."})
    late = MemoriesStore(Overtaken(file, program=program))
    assert late.get(("world",), "dam") is None
    late.put(("world",), "dam", {"text": "Open."})
    assert [item.value["text"] for item in other.search(())] == ["Open.", "Locked."]
    assert "~~Closed.~~" in file.read_text()


def test_what_is_not_supported_is_refused(store: MemoriesStore, tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("world",), "k", {"a": 1}, ttl=5)
    with pytest.raises(ValueError, match="Unknown operation"):
        store.batch([5])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    assert store.get(("world",), "k") is None
    (tmp_path / "Memories.md").write_bytes(b"\xff")
    with pytest.raises(MemoriesError, match="UTF-8"):
        store.search(())


class State(TypedDict):
    said: str
    known: str


def test_a_graph_remembers_in_the_file(store: MemoriesStore, program: str, tmp_path: Path) -> None:
    def listen(state: State, *, store: BaseStore) -> dict[str, Any]:
        store.put(("memories", "user-1"), "said", {"text": state["said"]})
        return {}

    def think(state: State, *, store: BaseStore) -> dict[str, Any]:
        (found, *_) = store.search(("memories", "user-1"), query="which pet?")
        return {"known": found.value["text"]}

    def graph(over: MemoriesStore) -> Any:
        builder: Any = StateGraph(State)
        for name, node in (("listen", listen), ("think", think)):
            builder.add_node(name, node)
        for edge in ((START, "listen"), ("listen", "think"), ("think", END)):
            builder.add_edge(*edge)
        return builder.compile(store=over)

    assert graph(store).invoke({"said": "I own a dog."}) == {"said": "I own a dog.", "known": "I own a dog."}
    later = MemoriesStore(Memories(tmp_path / "Memories.md", program=program))
    assert asyncio.run(graph(later).ainvoke({"said": "My pet is a cat."}))["known"] == "My pet is a cat."
    assert "~~I own a dog.~~" in (tmp_path / "Memories.md").read_text()
