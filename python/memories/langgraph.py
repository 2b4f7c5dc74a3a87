"""`MemoriesStore`: LangGraph's long-term store in a memory file, which people can read and edit.

An item is a memory. Its namespace is a section, and its key the title: `("location", "23")`, `("npc", "troll")`,
`("agent", "alex")`, `("topic", "release")`, `("dir", "src/search")`, `("world",)` and `("scene",)` are these scopes.
Each other namespace is a topic, `("memories", "user-1")` that of `topic:memories-user-1`. What the store writes bears
its address as a tag, `#item:memories/user-1/food`, so a person may change the title. A memory without one, of a game or
a person, is an item of its section's namespace, with its title as the key, and of 1970 unless it bears a date.

A value of one text, such as `{"text": …}` or `{"content": …}`, stands in the file as that text; it may have a
`category` and an `importance` beside it. All other values stand there as JSON, and so does a text that the program
would change or not store: one with control characters or outer blanks, and one that another memory there has already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from threading import Lock

from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, Result, SearchItem, SearchOp

from memories import Memories, MemoriesError
from memories._items import Entry, copied, entries_of, fields_of, has, is_same, next_title, scope_of


class MemoriesStore(BaseStore):
    """A store of LangGraph over a memory file. Reading runs the program once, and each `put` or `delete` twice.

    A `put` over another value strikes the old one, and `delete` strikes the item: nobody's words vanish from the file.
    What replaces `food` has the title `food (2)` there, then `food (3)`; its key stays. With `history=False` both
    remove the old one; the program's journal still has it.

    `search` gives the newest items first; with a query, those that the program finds by it, the most relevant first.
    `index` is ignored, and a `ttl` refused.
    """

    def __init__(self, memories: Memories, *, history: bool = True) -> None:
        self._memories, self._history, self._lock = memories, history, Lock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answers all questions from one state of the file, then does the last `PutOp` of each item.

        Raises `MemoriesError`; `TypeError` or `ValueError` for a value that is not JSON.
        """
        ops = list(ops)
        entries = [] if all(isinstance(op, PutOp) for op in ops) else self._read()
        items = {(entry.namespace, entry.key): entry for entry in entries}
        results = [self._answer(op, items) for op in ops]
        for op in {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.values():
            with self._lock:
                try:
                    self._put(op, self._read())
                except MemoriesError as error:
                    if error.code != 4:
                        raise
                    self._put(op, self._read())  # Another program may have written in between.
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Does the same as `batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self) -> list[Entry]:
        """All live memories, in the order of the file; none where there is no file yet."""
        try:
            exported = self._memories.run("export", "-", "--format=json", "--live")
        except MemoriesError:
            if self._memories.run("list")["sections"]:
                raise
            return []
        return [entry for section in exported.get("sections", ()) for entry in entries_of(section)]

    def _answer(self, op: Op, items: dict[tuple[tuple[str, ...], str], Entry]) -> Result:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            entry = items.get((op.namespace, op.key))
            return None if entry is None else Item(**entry.item)
        if not isinstance(op, SearchOp):
            return copied(items.values()).batch([op])[0]
        prefix = tuple(op.namespace_prefix)
        found = [one for one in items.values() if one.namespace[: len(prefix)] == prefix and has(one, op.filter)]
        results = [SearchItem(**entry.item) for entry in found]
        if found and op.query and op.query.strip():
            scopes = dict.fromkeys(entry.scope for entry in found)
            hits = self._memories.query(op.query, number=len(items), scopes=scopes)
            scores = {(hit.scope, hit.title): hit.relevance for hit in hits}
            for entry, result in zip(found, results, strict=True):
                result.score = scores.get((entry.scope, entry.title))
            results = [result for result in results if result.score is not None]
        results.sort(key=lambda result: (result.score or 0, result.updated_at), reverse=True)
        return results[op.offset : op.offset + op.limit]

    def _remove(self, entry: Entry) -> None:
        if self._history:
            self._memories.invalidate(entry.scope, entry.title, "deleted")
        else:
            self._memories.run("forget", "--", entry.scope, entry.title)

    def _put(self, op: PutOp, entries: list[Entry]) -> None:
        address = (op.namespace, op.key)
        old = next((entry for entry in reversed(entries) if (entry.namespace, entry.key) == address), None)
        if op.value is None and old is not None:
            self._remove(old)
        if op.value is None or (old is not None and is_same(old.value, op.value)):
            return
        scope = scope_of(op.namespace) if old is None else old.scope
        others = [entry for entry in entries if entry.is_in(scope) and entry is not old]
        fields = fields_of(*address, dict(op.value), old=old, others=others)
        text, kind = fields.pop("text"), fields.get("category", "NOTE")
        # A memory whose text stays cannot take its own place, and loses no words where it is removed.
        if old is not None and self._history and (text, kind) != (old.fields["text"], old.fields["category"]):
            fields["title"] = next_title(old.title, others)
            self._memories.supersede(scope, old.title, text, **fields)
            return
        if old is not None:
            self._memories.run("forget", "--", scope, old.title)
        written = self._memories.add(scope, text, **fields)
        if written.outcome == "duplicate":
            raise MemoriesError(f"{op.key!r} is not stored: `{written.title}` says this already", "try again", 4)
