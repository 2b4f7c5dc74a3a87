"""`MemoryTool`: Anthropic's memory tool on a memory file, for the tool runner of its SDK.

What the model writes under `/memories` are memories like all others: a folder is a section of the file, a file an entry
of it. What a person wrote or edited there, the model reads and does not change.
"""

from __future__ import annotations

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memories import Memories, MemoriesError
from memories._process import to_json


class MemoryTool(BetaAbstractMemoryTool):
    """The tool over one `memories memory-tool`, which starts with the first command and ends with `close`.

    What the model can mend is a `ToolError`, which the runner makes the tool's result; where the program fails, it is
    `MemoriesError`. An object may be used by several threads.
    """

    def __init__(self, memories: Memories, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._lines = memories.lines("memory-tool", "--lines")

    def close(self) -> None:
        """Ends the program. A command behind that starts another."""
        self._lines.close()

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a folder, or a file with numbered lines."""
        return self._ask(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Makes a file."""
        return self._ask(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text that a file has once."""
        return self._ask(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts lines into a file."""
        return self._ask(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Removes a file, or a folder with all that is in it."""
        return self._ask(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Moves a file or folder."""
        return self._ask(command)

    def _ask(self, command: BetaMemoryTool20250818Command) -> str:
        # What has a wrong type is told by the program.
        request = command.to_dict(warnings=False)
        try:
            to_json(request)
        except MemoriesError as error:
            raise ToolError(error.message) from None
        answer = self._lines.ask(request)
        if answer is None:
            raise ToolError("The memory is switched off")
        if answer["is_error"]:
            raise ToolError(answer["text"])
        return str(answer["text"])
