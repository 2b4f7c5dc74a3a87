"""`memories` in Hermes: a memory provider, and hooks around the tools that run commands and write files.

Hermes calls the functions below; each hands the event to the program `memories` on the path, in the form of Claude
Code's hooks, and puts what it answers beside the tool's result. Whatever goes wrong here is only logged: the program
missing, no memory file, a time limit. The tools of the provider are those of `memories mcp`, with an agent's rights.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
from typing import Any, Dict, List, Optional

from agent.memory_provider import MemoryProvider

logger = logging.getLogger(__name__)

# Seconds. Hooks answer within milliseconds; the limit is for a machine that hangs.
HOOK_LIMIT = 5
TOOL_LIMIT = 30

# Hermes' tools and their names and arguments in Claude Code.
EDITS = {"write_file": "Write", "patch": "Edit"}


def working_folder(keys: Dict[str, Any], arguments: Dict[str, Any]) -> str:
    """The folder in which the tool runs: its own argument, where the shell stands, or where Hermes was started."""
    from agent.runtime_cwd import resolve_agent_cwd
    from tools.terminal_tool import get_session_cwd

    known = arguments.get("workdir") or get_session_cwd(keys.get("task_id") or keys.get("session_id"))
    return os.path.abspath(os.path.join(str(resolve_agent_cwd()), known or ""))


def is_local() -> bool:
    """Whether commands run on this machine: what a container or another machine answers says nothing of these files."""
    return (os.getenv("TERMINAL_ENV", "local").strip().lower() or "local") == "local"


def find_program() -> Optional[str]:
    """The program on the path, but not in the working folder, where a repository could have one of that name."""
    program = shutil.which("memories")
    return program if program and os.path.isabs(program) else None


def ask_hook(event: Dict[str, Any]) -> Dict[str, Any]:
    """What `memories hook` answers to an event; empty where it has nothing to say, or cannot be asked."""
    program = find_program()
    if program is None:
        return {}
    try:
        done = subprocess.run(
            [program, "hook", "claude-code"], input=json.dumps(event).encode(), cwd=event["cwd"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=HOOK_LIMIT, check=False,
        )
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        return answer.get("hookSpecificOutput", {}) if isinstance(answer, dict) else {}
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        logger.debug("memories hook: %s", error)
        return {}


def event_of(name: str, tool: str, arguments: Dict[str, Any], keys: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """The event in Claude Code's form; nothing where the tool neither runs a command nor writes a file."""
    if not is_local() or (tool != "terminal" and tool not in EDITS):
        return None
    folder = working_folder(keys, arguments)
    if tool == "terminal":
        given: Dict[str, Any] = {"command": arguments.get("command") or ""}
        if arguments.get("background"):
            given["run_in_background"] = True
    else:
        given = {"file_path": os.path.abspath(os.path.join(folder, arguments.get("path") or ""))}
    return {
        "session_id": keys.get("session_id") or keys.get("task_id") or "hermes",
        "cwd": folder,
        "hook_event_name": name,
        "tool_name": EDITS.get(tool, "Bash"),
        "tool_input": given,
        "tool_use_id": keys.get("tool_call_id") or "",
    }


# What was said before a tool ran, until its result is there: by the id of the call.
_before: Dict[str, str] = {}


def pre_tool_call(
    tool_name: str = "", args: Optional[Dict[str, Any]] = None, **keys: Any
) -> Optional[Dict[str, str]]:
    """Before a command: refuses it where the settings hold it back, else keeps the warning for its result."""
    event = event_of("PreToolUse", tool_name, args or {}, keys) if tool_name == "terminal" else None
    if event is None:
        return None
    answer = ask_hook(event)
    if answer.get("permissionDecision") == "deny":
        return {"action": "block", "message": str(answer.get("permissionDecisionReason") or "held back")}
    if answer.get("additionalContext"):
        if len(_before) > 1000:
            _before.clear()
        _before[event["tool_use_id"]] = str(answer["additionalContext"])
    return None


def transform_tool_result(
    tool_name: str = "", args: Optional[Dict[str, Any]] = None, result: Any = None, **keys: Any
) -> Optional[str]:
    """Behind a tool: records what came of it, and adds to the result what is known of it."""
    try:
        values = json.loads(result) if isinstance(result, str) else None
    except ValueError:
        values = None
    event = event_of("PostToolUse", tool_name, args or {}, keys)
    if event is None or not isinstance(values, dict):
        return None
    notes = [_before.pop(event["tool_use_id"], "")]
    code, error = values.get("exit_code"), values.get("error")
    output = str(values.get("output") or "")
    # Without an exit code, or with -1, the command did not run: it was refused, or the terminal broke.
    if tool_name == "terminal" and not (isinstance(code, int) and code >= 0):
        return None
    if code or error:
        event["hook_event_name"] = "PostToolUseFailure"
        stopped = code == 130 and "[Command interrupted]" in output
        limit = "Command timed out\n" if code == 124 else ""
        event["error"] = f"Exit code {code or 1}\n{limit}{output or error or ''}"
        event["is_interrupt"] = stopped
    else:
        event["tool_response"] = {"stdout": output, "stderr": "", "interrupted": False}
        if event["tool_input"].get("run_in_background"):
            event["tool_response"]["backgroundTaskId"] = str(values.get("session_id") or "hermes")
    notes.append(str(ask_hook(event).get("additionalContext") or ""))
    said = "\n\n".join(note for note in notes if note)
    if not said:
        return None
    return json.dumps({**values, "memory": said}, ensure_ascii=False)


# -- The provider ------------------------------------------------------------------------------------------------------


def call_tool(name: str, arguments: Dict[str, Any], folder: str) -> Dict[str, Any]:
    """Calls one tool of `memories mcp`; its text, or the error, as values."""
    program = find_program()
    if program is None:
        return {"error": "the program `memories` is not on the path"}
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hermes", "version": "0"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}},
    ]
    try:
        done = subprocess.run(
            [program, "mcp", "--provider", "offline"],
            input="".join(json.dumps(line) + "\n" for line in lines).encode(),
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TOOL_LIMIT, check=False,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"error": str(error)}
    for answer in answers:
        if answer.get("id") == 2:
            found = answer.get("result")
            if found is None:
                return {"error": str(answer.get("error", {}).get("message"))}
            text = "\n".join(part.get("text", "") for part in found.get("content", []))
            return {"error": text} if found.get("isError") else {"result": text}
    return {"error": "`memories mcp` gave no answer"}


def _schema(name: str, description: str, required: List[str], **properties: str) -> Dict[str, Any]:
    fields = {field: {"type": "string", "description": text} for field, text in properties.items()}
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": fields, "required": required},
    }


_SCOPE = "`dir:` and a path from the root of the repository, such as `dir:src/search`, or `topic:` and a subject"
_TOOLS = {
    "memories_recall": "get_location_memories",
    "memories_search": "query_memories",
    "memories_remember": "form_memory",
    "memories_forget": "invalidate_memory",
}


class MemoriesProvider(MemoryProvider):
    """The memory file of the repository in which Hermes works."""

    def __init__(self) -> None:
        self._session = ""
        self._is_new = True

    @property
    def name(self) -> str:
        return "memories"

    def is_available(self) -> bool:
        return find_program() is not None

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self._session, self._is_new = session_id, True

    def _folder(self) -> str:
        return working_folder({"session_id": self._session}, {})

    def _event(self, name: str, **more: str) -> Dict[str, Any]:
        if not is_local():
            return {}
        return ask_hook({"session_id": self._session, "cwd": self._folder(), "hook_event_name": name, **more})

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What is known of the repository, before the first turn of a session."""
        if not self._is_new:
            return ""
        self._is_new = False
        return str(self._event("SessionStart", source="startup").get("additionalContext") or "")

    def on_session_switch(self, new_session_id: str, *, reset: bool = False, **kwargs: Any) -> None:
        self._event("SessionEnd", reason="other")
        self._session, self._is_new = new_session_id, reset

    def on_pre_compress(self, messages: List[Dict[str, Any]]) -> str:
        self._event("PreCompact", trigger="auto")
        return ""

    def on_session_end(self, messages: List[Dict[str, Any]]) -> None:
        self._event("SessionEnd", reason="other")

    def get_tool_schemas(self) -> List[Dict[str, Any]]:
        return [
            _schema("memories_recall", "Show what is known of a folder or subject", ["location"], location=_SCOPE),
            _schema("memories_search", "Search all memories of this repository", ["question"], question="What to find"),
            _schema(
                "memories_remember", "Keep one fact for later sessions: no passwords, no keys", ["content", "scope"],
                content="One or two sentences that a stranger understands", scope=_SCOPE,
                title="At most eight words",
            ),
            _schema(
                "memories_forget", "Strike a memory that is wrong", ["title", "reason"],
                title="Its exact title", reason="What is wrong with it", scope=_SCOPE,
            ),
        ]

    def handle_tool_call(self, tool_name: str, args: Dict[str, Any], **kwargs: Any) -> str:
        given = {name: value for name, value in args.items() if value not in (None, "")}
        return json.dumps(call_tool(_TOOLS[tool_name], given, self._folder()), ensure_ascii=False)


def register(ctx: Any) -> None:
    """Called twice: once for the hooks, once for the provider; each context has only its own function."""
    if hasattr(ctx, "register_memory_provider"):
        ctx.register_memory_provider(MemoriesProvider())
        return
    ctx.register_hook("pre_tool_call", pre_tool_call)
    ctx.register_hook("transform_tool_result", transform_tool_result)
