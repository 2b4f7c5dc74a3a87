"""One long `memories mcp`: a small client of the Model Context Protocol on stdin and stdout."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import weakref
from io import BufferedWriter
from itertools import count
from queue import Empty, SimpleQueue
from typing import IO, Any, Protocol, cast

from memories import _process
from memories._errors import MemoriesError

#: Version of the protocol, one of those that the program speaks.
PROTOCOL = "2025-06-18"

#: Longest request in bytes. A pipe takes it even where nobody reads, so that a call ends after its `timeout`.
LONGEST = 16_000

#: Seconds that the program has to end by itself.
PATIENCE = 5.0

#: A notice that `--quiet` leaves out where there is no session.
NOTICE = re.compile("^warning: no model configured: .*$", re.MULTILINE)

Message = dict[str, Any]
Waiting = SimpleQueue["Message | None"]


class _Answers:
    """Answers on their way, by the number of their request. A thread of its own reads them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: dict[int, Waiting] = {}
        self.is_over = False
        self.rubbish = ""

    def read(self, stdout: IO[bytes]) -> None:
        """Hands out answers until the program ends or says what is no message."""
        line = b""
        try:
            with stdout:
                for line in stdout:
                    message: Message = json.loads(line)
                    waiting = self.waiting.pop(message.get("id", 0), None)
                    if waiting is not None:
                        waiting.put(message)
        except (ValueError, AttributeError, TypeError):
            self.rubbish = line.decode(errors="replace")
        self.end()

    def end(self) -> None:
        """Nobody is answered any more."""
        with self.lock:
            self.is_over = True
            for waiting in self.waiting.values():
                waiting.put(None)
            self.waiting.clear()


class Session:
    """A running program that answers calls, also of several threads at the same time.

    It ends when it is closed and with the interpreter. After it broke off, or did not answer in time, it is not usable.
    """

    def __init__(self, command: list[str], timeout: float | None) -> None:
        self._program, self._timeout, self._owner = command[0], timeout, os.getpid()
        self._numbers, self._answers, self._closing, self._said = count(1), _Answers(), threading.Lock(), ""
        self._process, stderr = start(command)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin = self._process.stdin
        self._end = weakref.finalize(self, end, self._process, stderr)
        SESSIONS.add(self)
        threading.Thread(target=self._answers.read, args=(self._process.stdout,), daemon=True).start()
        try:
            client = {"name": "memories-md", "version": "1"}
            self._ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
            self._send({"method": "notifications/initialized"})
            tools: list[Message] = self._ask("tools/list", {})["tools"]
            # There are none where memory is switched off.
            self._tools = frozenset(tool["name"] for tool in tools)
            _process.warn(text_of(stderr), {})
        except BaseException:
            self.close()
            raise

    @property
    def is_usable(self) -> bool:
        """False after it broke off, and in a process that was forked from the one that began it."""
        return not self._answers.is_over and self._owner == os.getpid()

    def call(self, tool: str, arguments: dict[str, Any]) -> Message | None:
        """The answer of a tool, as `--json` gives it; `None` if only the command line can give it.

        Then nothing was written. Raises `MemoriesError`.
        """
        if tool not in self._tools or len(_process.to_json(arguments)) > LONGEST:
            return None
        wanted = {"memories/answer": True}
        result = self._ask("tools/call", {"name": tool, "arguments": arguments, "_meta": wanted})
        meta: Message = result.get("_meta", {})
        if result.get("isError"):
            error = meta["memories/error"]
            raise MemoriesError(error["error"], error["hint"], error["code"])
        answer: Message | None = meta.get("memories/answer")
        if answer is not None:
            _process.warn(NOTICE.sub("", result["content"][0]["text"]), answer)
        return answer

    def close(self) -> None:
        """Ends the program, after what it has begun to write."""
        with self._closing:
            self._said = self._end() or self._said
        self._answers.end()

    def _ask(self, method: str, params: Message) -> Message:
        answer: Waiting = SimpleQueue()
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params}, {number: answer})
        try:
            message = answer.get(timeout=self._timeout)
        except Empty:
            self._process.kill()
            self.close()
            raise _process.too_long(self._program, self._timeout) from None
        if message is None:
            raise self._broken()
        if "error" in message:
            raise MemoriesError(str(message["error"]["message"]), code=70)
        result: Message = message["result"]
        return result

    def _send(self, message: Message, waiting: dict[int, Waiting] | None = None) -> None:
        """Writes a message, and notes before who waits for its answer."""
        line = _process.to_json({"jsonrpc": "2.0", **message}) + b"\n"
        with self._answers.lock:
            is_over = self._answers.is_over
            if not is_over:
                self._answers.waiting.update(waiting or {})
                try:
                    self._stdin.write(line)
                    self._stdin.flush()
                except (OSError, ValueError):
                    # The program is gone, or another thread closes the session. The one that reads will say so.
                    pass
                except BaseException:
                    # Ctrl-C in the middle of a line, behind which no other can come.
                    self._process.kill()
                    raise
        if is_over:
            raise self._broken()

    def _broken(self) -> MemoriesError:
        """The error that the program wrote when it ended; else that it broke off, or said what is no message."""
        if not self._answers.rubbish:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
        self._process.kill()
        self.close()
        if self._answers.rubbish:
            return _process.no_answer(self._program, self._answers.rubbish)
        return _process.failure(self._said) or _process.broke_off(self._program, self._process.returncode, self._said)

    def leave(self) -> None:
        """Gives up the pipe in a forked process: the program ends when all who hold its stdin have closed it.

        What the buffer holds is the other process's to write.
        """
        self._end.detach()
        with contextlib.suppress(OSError):
            cast(BufferedWriter, self._stdin).raw.close()


class Leaving(Protocol):
    """What gives up its pipe in a forked process."""

    def leave(self) -> None:
        """Lets the program end when all others who hold its stdin have closed it."""


#: The running programs of this process.
SESSIONS: weakref.WeakSet[Leaving] = weakref.WeakSet()


def _leave_all() -> None:
    for session in list(SESSIONS):
        session.leave()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_leave_all)


def start(command: list[str]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """The process, and the file that has its stderr: a pipe that nobody reads would fill.

    It has a group of its own: Ctrl-C is for the caller, who may go on with the session.
    """
    # The program always writes at the end, wherever it is read.
    stderr = tempfile.TemporaryFile("a+b")  # noqa: SIM115
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=sys.platform != "win32",
            creationflags=_process.FLAGS | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except OSError as error:
        stderr.close()
        raise _process.cannot_start(command[0], error) from error
    return process, stderr


def end(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> str:
    """Closes stdin, at which the program ends; if it does not, it is ended. Gives what it said on stderr."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with stderr:
        return text_of(stderr)


def text_of(file: IO[bytes]) -> str:
    """All that a file holds, also while a program writes into it."""
    file.seek(0)
    return file.read().decode(errors="replace")
