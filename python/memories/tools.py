"""`Tools`: the memory as tools of a model, for the SDKs of OpenAI and Anthropic.

They are tools of `memories mcp`, and a call is one request to it. So the model chooses no file and no flag, its
memories have at most importance 700, what looks like a secret is masked, and what a person wrote is never struck: the
model's memory stands beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from memories import Memories
from memories._mcp import TOOLS, Refused, ask, described
from memories._session import NOTICE


class Answer(str):
    """The text of a tool for the model. `is_error` says that the call failed; the text says why, and what to do."""

    is_error = False


class Tools:
    """The tools `recall`, `tried`, `record`, `remember`, `search` and `path`; none where memory is switched off.

    `agent` is the id of the agent that the model plays: what it remembers goes to its section unless it names another
    scope, and what other agents know is not there. `prefix` comes before each name, where others have the same.
    """

    def __init__(self, memories: Memories, *, agent: str | None = None, prefix: str = "") -> None:
        self._memories, self._prefix = memories, prefix
        self._command = ["mcp", *([] if agent is None else [f"--agent={agent}"])]

    def openai(self) -> list[Any]:
        """For `tools` of `client.chat.completions.create`, with strict schemas."""
        return [{"type": "function", "function": {**tool, "strict": True}} for tool in self._tools]

    def openai_responses(self) -> list[Any]:
        """For `tools` of `client.responses.create`, with strict schemas."""
        return [{"type": "function", **tool, "strict": True} for tool in self._tools]

    def anthropic(self) -> list[Any]:
        """For `tools` of `client.messages.create`."""
        names = {"parameters": "input_schema"}
        return [{names.get(key, key): value for key, value in tool.items()} for tool in self._tools]

    def anthropic_runner(self) -> list[Any]:
        """For `tools` of `client.beta.messages.tool_runner`, which does the calls itself."""
        from anthropic.lib.tools import ToolError, beta_tool

        def runnable(tool: dict[str, Any]) -> Any:
            def run(**arguments: Any) -> str:
                if (answer := self.call(tool["name"], arguments)).is_error:
                    raise ToolError(answer)
                return answer

            return beta_tool(run, **tool)

        return [runnable(tool) for tool in self.anthropic()]

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> Answer:
        """Does what a model asked for, with arguments in JSON or as a dictionary, and gives the text for it.

        What the model can mend is an answer with `is_error`. Raises `MemoriesError` where the program fails, or cannot
        be started as its caller wants: with an `agent` that is no id, or settings that are wrong.
        """
        tool, names = TOOLS.get(str(name).removeprefix(self._prefix), ("", ""))
        if not tool:
            return _failed(f"there is no tool `{name}`", (self._prefix + other for other in TOOLS))
        try:
            given: dict[str, Any] = dict(json.loads(arguments or "{}") if isinstance(arguments, str) else arguments)
        except (TypeError, ValueError, RecursionError) as error:
            return _failed(f"the arguments are not a JSON object: {error}", names.split())
        if unknown := given.keys() - set(names.split()):
            return _failed(f"there is no argument `{min(unknown)}`", names.split())
        # A model that plays by names comes to places that have no id yet.
        always = {"new_place": True} if tool == "record_turn" else {}
        try:
            result = ask(self._memories, self._command, "tools/call", name=tool, arguments={**given, **always})
        except Refused as error:
            return _failed(error.message, names.split())
        answer = Answer(NOTICE.sub("", result["content"][0]["text"]).rstrip())
        answer.is_error = bool(result.get("isError"))
        return answer

    @cached_property
    def _tools(self) -> list[dict[str, Any]]:
        return list(described(self._memories, self._command, self._prefix))


def _failed(reason: str, known: Iterable[str]) -> Answer:
    answer = Answer(f"{reason}\nhint: there are {', '.join(f'`{name}`' for name in known)}")
    answer.is_error = True
    return answer
