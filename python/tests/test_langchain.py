"""The tools of LangChain: called by hand, in messages, and in a graph."""

from __future__ import annotations

from typing import Any

import pytest

from memories import Memories, MemoriesError

pytest.importorskip("langchain_core", reason="needs requirements-adapters.txt")
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from memories.langchain import tools


def by_name(made: list[BaseTool]) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in made}


def test_a_model_records_recalls_and_searches(memories: Memories) -> None:
    made = by_name(tools(memories))
    assert list(made) == ["recall", "tried", "record", "remember", "search", "path"]
    turn = {"location": "Attic", "action": "take lamp", "response": "Taken.", "world_changed": True}
    assert made["record"].invoke(turn).startswith("declined at Attic")
    remembered = made["remember"].invoke({"content": "The lamp opens the cellar.", "scope": "Attic"})
    assert remembered.startswith('stored "The lamp opens the cellar')
    assert "The lamp opens the cellar." in made["search"].invoke({"question": "what opens the cellar?"})
    assert "Worked here: take lamp" in made["recall"].invoke({"location": "Attic"})


def test_what_the_model_can_mend_is_a_message(memories: Memories) -> None:
    call: dict[str, Any] = {"name": "path", "args": {"to": "Nowhere"}, "id": "1", "type": "tool_call"}
    answer = by_name(tools(memories))["path"].invoke(call)
    assert isinstance(answer, ToolMessage) and answer.status == "error"
    assert str(answer.content).startswith("no place is called `Nowhere`\nhint: ")
    with pytest.raises(MemoriesError, match="is not an id"):
        tools(memories, agent="no id")


def test_a_model_is_told_the_arguments(memories: Memories) -> None:
    functions = [convert_to_openai_tool(tool)["function"] for tool in tools(memories, prefix="memory_")]
    record = next(one for one in functions if one["name"] == "memory_record")
    assert record["parameters"]["required"] == ["location", "action", "response"]
    assert record["parameters"]["properties"]["world_changed"]["type"] == ["boolean", "null"]
    assert "description" in record["parameters"]["properties"]["action"] and record["description"]
