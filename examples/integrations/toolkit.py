"""A toolkit of LangChain: three tools over places with names, and answers by the model of the settings.

    python examples/integrations/toolkit.py MEMORY_FILE QUESTION
"""

import sys

from langchain_core.tools import BaseTool, StructuredTool

from memories import Memories


class MemoryToolkit:
    def __init__(self, path: str) -> None:
        self.memories = Memories(path)

    def add_memory(self, content: str, importance: int, turn: int, location: str) -> bool:
        written = self.memories.add(location, content, importance=importance, turn=turn, new_place=True)
        return written.outcome == "stored"

    def get_top_memories(self, limit: int = 10) -> str:
        """The most important memories."""
        lines = (f"{memory.importance}/1000 {memory.name}: {memory.text}" for memory in self.memories.top(limit))
        return "\n".join(lines) or "No memories recorded yet."

    def query_memories(self, question: str) -> str:
        """Answers a question from memory."""
        return str(self.memories.query(question, answer=True)) or "Nothing is known of that."

    def get_location_memories(self, location: str) -> str:
        """Sums up what is known of a place, by its name."""
        return str(self.memories.summarize(location)) or f"No memories recorded for {location!r}."

    def get_tools(self) -> list[BaseTool]:
        calls = (self.get_top_memories, self.query_memories, self.get_location_memories)
        return [StructuredTool.from_function(call) for call in calls]


if __name__ == "__main__":
    print(MemoryToolkit(sys.argv[1]).query_memories(sys.argv[2]))
