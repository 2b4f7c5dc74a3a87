"""A long-term memory for agents, in one Markdown file that people can read and edit.

    from memories import Memories, Turn

    with Memories("Memories.md") as memories:
        print(memories.recall(23))                        # what matters here, for the prompt
        if not memories.tried(23, "take lamp"):           # it has not failed here before
            memories.record(Turn("take lamp", "Taken.", 23, world_changed=True))

The module runs the program `memories`; it never touches the file itself. It needs nothing but Python.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from memories._client import Memories
from memories._errors import MemoriesError
from memories._types import (
    Answered,
    Attempt,
    Cause,
    Contested,
    Corrected,
    Correction,
    Found,
    Frontier,
    Goal,
    Memory,
    Model,
    Moment,
    Note,
    Path,
    Place,
    Recalled,
    Recorded,
    RecordedAll,
    Reference,
    Refusal,
    Refused,
    Rewound,
    RewoundMemory,
    RewoundTurn,
    Route,
    RouteStep,
    Section,
    Span,
    Step,
    Summarized,
    Tried,
    Turn,
    Unexplored,
    Way,
    Written,
)

__all__ = [
    "Answered",
    "Attempt",
    "Cause",
    "Contested",
    "Corrected",
    "Correction",
    "Found",
    "Frontier",
    "Goal",
    "Memories",
    "MemoriesError",
    "Memory",
    "Model",
    "Moment",
    "Note",
    "Path",
    "Place",
    "Recalled",
    "Recorded",
    "RecordedAll",
    "Reference",
    "Refusal",
    "Refused",
    "Rewound",
    "RewoundMemory",
    "RewoundTurn",
    "Route",
    "RouteStep",
    "Section",
    "Span",
    "Step",
    "Summarized",
    "Tried",
    "Turn",
    "Unexplored",
    "Way",
    "Written",
]

try:
    __version__ = version("memories-md")
except PackageNotFoundError:
    __version__ = "0+unknown"
