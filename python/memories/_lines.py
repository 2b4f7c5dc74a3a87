"""A program that reads lines of JSON and answers each with one: for `memories.memory_tool`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import weakref
from collections.abc import Mapping
from io import BufferedWriter
from typing import IO, Any, cast

from memories import _process
from memories._errors import MemoriesError
from memories._session import SESSIONS, end, start


class _Running:
    """A process, which ends when it is closed and with the interpreter."""

    def __init__(self, command: list[str]) -> None:
        self.process, stderr = start(command)
        self.owner, self._end = os.getpid(), weakref.finalize(self, end, self.process, stderr)
        SESSIONS.add(self)

    @property
    def stdin(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def close(self) -> str:
        """Ends the program after what it has begun. Gives what it said on stderr."""
        said = self._end() or ""
        self.stdout.close()
        return said

    def leave(self) -> None:
        """Gives up the pipe in a forked process."""
        self._end.detach()
        with contextlib.suppress(OSError):
            cast(BufferedWriter, self.stdin).raw.close()


class Lines:
    """A program that starts with the first request, and again after it broke off or was closed."""

    def __init__(self, command: list[str], timeout: float | None) -> None:
        self._command, self._timeout, self._lock = command, timeout, threading.Lock()
        self._running: _Running | None = None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to a request; `None` where memory is switched off. Raises `MemoriesError`."""
        line = _process.to_json(request) + b"\n"
        with self._lock:
            running = self._running
            if running is None or running.owner != os.getpid():
                self._running = running = _Running(self._command)
            answer = self._exchange(running, line)
        if answer is None:
            return None
        if "error" in answer:
            raise MemoriesError(answer["error"], answer["hint"], answer["code"])
        for warning in answer.get("warnings", ()):
            _process.logger.warning("%s", warning)
        return answer

    def close(self) -> None:
        """Ends the program; the next request starts another."""
        with self._lock:
            if self._running is not None and self._running.owner == os.getpid():
                self._running.close()
            self._running = None

    def _exchange(self, running: _Running, line: bytes) -> dict[str, Any] | None:
        late = threading.Event()

        def give_up() -> None:
            late.set()
            running.process.kill()

        timer = None if self._timeout is None else threading.Timer(self._timeout, give_up)
        try:
            if timer is not None:
                timer.daemon = True
                timer.start()
            # A program that is gone has closed its pipe; what it said on stderr says why.
            with contextlib.suppress(OSError):
                running.stdin.write(line)
                running.stdin.flush()
            answer = running.stdout.readline()
        except BaseException:
            # Ctrl-C in the middle of a line, behind which no other can come.
            running.process.kill()
            self._running = None
            raise
        finally:
            if timer is not None:
                timer.cancel()
        if answer.endswith(b"\n"):
            return self._parse(running, answer)
        self._running = None
        self._check_ending(running, late.is_set())
        return None

    def _parse(self, running: _Running, line: bytes) -> dict[str, Any]:
        try:
            answer: object = json.loads(line)
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return cast("dict[str, Any]", answer)
        self._running = None
        running.process.kill()
        running.close()
        raise _process.no_answer(self._command[0], line.decode(errors="replace"))

    def _check_ending(self, running: _Running, is_late: bool) -> None:
        """Raises the reason why the program ended without an answer. There is none where memory is off."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.process.wait(1)
        said = running.close()
        if is_late:
            raise _process.too_long(self._command[0], self._timeout)
        if running.process.returncode == 0 and not said.strip():
            return
        raise _process.failure(said) or _process.broke_off(self._command[0], running.process.returncode, said)
