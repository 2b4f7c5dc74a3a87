"""`tools`: the memory as tools of LangChain, for `model.bind_tools(…)`, `create_agent(…)` and `ToolNode(…)`.

They are those of `memories.tools`, with the same limits for a model.
"""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from memories import Memories
from memories.tools import Tools


def tools(memories: Memories, *, agent: str | None = None, prefix: str = "") -> list[BaseTool]:
    """The tools `recall`, `tried`, `record`, `remember`, `search` and `path`; none where memory is switched off.

    `agent` and `prefix` are those of `Tools`. What the model can mend is the text of a message with the status `error`;
    what it cannot is a `MemoriesError`.
    """
    made = Tools(memories, agent=agent, prefix=prefix)

    def runnable(name: str, description: str, schema: dict[str, Any]) -> BaseTool:
        def run(**arguments: Any) -> str:
            if (answer := made.call(name, arguments)).is_error:
                raise ToolException(answer)
            return str(answer)

        # A model may leave out what may be null.
        kinds = schema["properties"].items()
        required = [key for key, one in kinds if "null" not in one["type"]]
        return StructuredTool.from_function(
            run,
            name=name,
            description=description,
            args_schema={**schema, "required": required},
            handle_tool_error=True,
        )

    return [runnable(tool["name"], tool["description"], tool["input_schema"]) for tool in made.anthropic()]
