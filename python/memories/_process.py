"""The program: where it is, and one process for a call."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import select
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from memories._errors import MemoriesError

#: Warnings of the program, such as lines of the file that cannot be read as they were meant.
logger = logging.getLogger("memories")

#: The end of the warning that the model of a settings file takes no part.
NOT_ASKED = "; its model is not asked"

#: On Windows a program without a window opens none for its children.
FLAGS: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)


def find_program() -> str:
    """The program that was installed with this module, else `memories` on the path.

    Raises `MemoriesError` if there is none.
    """
    name = "memories.exe" if sys.platform == "win32" else "memories"
    # Not in the working directory, where anybody's program may be: relative parts of the path do not count.
    path = [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(part)]
    programs = (str(folder / name) for folder in (*folders(), *path))
    found = next((program for program in programs if os.path.isfile(program) and os.access(program, os.X_OK)), None)
    if found is None:
        hint = "install it with `pip install memories-md`, or name it: `Memories(program=…)`"
        raise MemoriesError("the program `memories` is not installed", hint)
    return found


def folders() -> list[Path]:
    """The folders into which installers put the programs of a package, those beside this module first: elsewhere may be
    a program of the same name."""
    modules = Path(__file__).resolve().parents[1]
    # `pip install --target FOLDER`: beside the modules.
    found = [modules / "bin"]
    if modules.name == "site-packages":
        # An environment or a prefix, which has the modules in Lib/site-packages or lib/python3.X/site-packages.
        is_windows = sys.platform == "win32"
        found.append(modules.parents[1] / "Scripts" if is_windows else modules.parents[2] / "bin")
    found.append(Path(sysconfig.get_path("scripts")))
    found.append(Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))))
    return found


def check(text: str) -> str:
    """A text for the command line. Raises `MemoriesError` for what no program can be given there."""
    if "\0" in text:
        raise MemoriesError(f"{text!r} has a NUL character", "leave it out", 2)
    encode(text)
    return text


def encode(text: str) -> bytes:
    """A text in UTF-8. Raises `MemoriesError` for half a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise MemoriesError(f"a text is not Unicode: {error}", 'decode it with `errors="replace"`', 2) from None


def to_json(value: Mapping[str, Any]) -> bytes:
    """An object in JSON. Raises `MemoriesError` for numbers and texts that JSON does not have."""
    try:
        return encode(json.dumps(dict(value), ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        raise MemoriesError(f"a number is not one of JSON: {error}", "leave it out", 2) from None


def run(
    command: list[str], data: bytes | None = None, timeout: float | None = None, *, lines: bool = False
) -> dict[str, Any]:
    """Runs a command with `--json`, `data` on its stdin, and gives its answer; an empty one where memory is off.

    With `lines` the answer has several lines, and they are given as `{"lines": [...]}`. Warnings of the program go to
    the logger `memories`. Raises `MemoriesError`.
    """
    code, out, err = _finish(command, data, timeout)
    # Exit code 1 is a no, which is said on stdout; where memory is off, nothing is said at all.
    if code not in range(5) or (code == 1 and err.strip() and not out.strip()):
        raise broke_off(command[0], code, err)
    if code > 1 and (error := failure(err)) is not None:
        raise error
    if code > 1 and not out.strip():
        raise MemoriesError(f"`{command[0]}` did not say why it failed: {err.strip()!r}", code=code)
    if not out.strip():
        check_program(command[0])
    answer = {"lines": [_parse(command[0], line) for line in out.splitlines()]} if lines else _parse(command[0], out)
    warn(err, answer)
    return answer


@cache
def check_program(program: str) -> None:
    """Raises `MemoriesError` for another program: one that says nothing is this one only where memory is off."""
    _, out, _ = _finish([program, "--version"], None, 10.0)
    if not out.startswith("memories "):
        raise no_answer(program, out)


def failure(err: str) -> MemoriesError | None:
    """The error on the last line of stderr, as the program writes it with `--json`."""
    try:
        error = json.loads(err.strip().rpartition("\n")[2])
        # What is a flag of the command line is an argument here.
        hint = error["hint"] and error["hint"].replace("`--new-place`", "`new_place`")
        return MemoriesError(error["error"], hint, error["code"])
    except (ValueError, KeyError, TypeError):
        return None


def warn(err: str, answer: dict[str, Any]) -> None:
    """Passes on the warnings on stderr, but for those that the answer has."""
    for line in err.splitlines():
        kind, _, text = line.partition(": ")
        if kind != "warning" or text in answer.get("warnings", ()):
            continue
        if text.endswith(NOT_ASKED):
            # The memories are other ones than the settings mean, so it must not depend on a logger.
            warnings.warn(text, UserWarning, stacklevel=4)
        else:
            logger.warning("%s", text)


class _Process(subprocess.Popen[bytes]):
    """A process whose end is noticed at once. `Popen` sleeps between its looks where there is a time limit."""

    def wait(self, timeout: float | None = None) -> int:
        if sys.platform == "linux" and timeout is not None and self.returncode is None:
            # Not before Linux 5.3, and not in each container.
            with contextlib.suppress(OSError):
                descriptor = os.pidfd_open(self.pid)
                try:
                    ending = select.poll()
                    ending.register(descriptor, select.POLLIN)
                    timeout = None if ending.poll(round(timeout * 1000)) else 0
                finally:
                    os.close(descriptor)
        return super().wait(timeout)


def _finish(command: list[str], data: bytes | None, timeout: float | None) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a process that has ended."""
    try:
        process = _Process(
            command,
            stdin=subprocess.DEVNULL if data is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=FLAGS,
        )
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise MemoriesError("a text is too long for a command", "shorten it", 2) from None
        raise cannot_start(command[0], error) from error
    with process:
        try:
            out, err = process.communicate(data, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise too_long(command[0], timeout) from None
        except BaseException:
            process.kill()
            process.wait()
            raise
    return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")


def broke_off(program: str, code: int, err: str) -> MemoriesError:
    """The error of a program that ended without an answer."""
    ending = f"signal {-code}" if code < 0 else f"exit code {code}"
    last = err.strip().rpartition("\n")[2] or "it said nothing"
    return MemoriesError(f"`{program}` broke off ({ending}): {last}", code=code if code == 70 else None)


def no_answer(program: str, out: str) -> MemoriesError:
    """The error of a program that says what is no answer."""
    return MemoriesError(
        f"`{program}` did not answer with a JSON object: {out[:100]!r}", "is it the program `memories`?"
    )


def cannot_start(program: str, error: OSError) -> MemoriesError:
    """The error of a program that is missing, or that the system does not start."""
    return MemoriesError(
        f"`{program}` cannot be started: {error.strerror or error}",
        "name a program that is there: `Memories(program=…)`" if isinstance(error, FileNotFoundError) else None,
    )


def too_long(program: str, timeout: float | None) -> MemoriesError:
    """The error of a call that was ended."""
    return MemoriesError(
        f"`{program}` did not answer within {timeout:g} seconds and was ended",
        "allow more time: `Memories(timeout=…)`",
    )


def _parse(program: str, out: str) -> dict[str, Any]:
    if not out.strip():
        return {}
    try:
        answer = json.loads(out)
    except ValueError:
        answer = None
    if isinstance(answer, dict):
        return cast("dict[str, Any]", answer)
    raise no_answer(program, out)
