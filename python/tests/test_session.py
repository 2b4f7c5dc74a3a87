"""The session: when it begins, how it ends, and what becomes of a call when it breaks off."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memories import Memories, MemoriesError, Place, Turn, _arguments, _process, _session

Fake = Callable[[str], str]

#: A server that shakes hands and then does with a call as the lines behind it say: `message` is the request.
SERVER = """
import json, os, sys, time
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def answer(message, data, **more):
    content = [{"type": "text", "text": "told\\n"}]
    meta = {"_meta": {"memories/answer": data}}
    say(id=message["id"], result={"content": content, "isError": False, **meta, **more})
if "mcp" not in sys.argv:
    print(json.dumps({"version": 1, "by": "process", "memories": []}))
    sys.exit()
tools = ["record_turn", "get_top_memories", "unexplored"]
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        say(id=message["id"], result={})
    elif message["method"] == "tools/list":
        say(id=message["id"], result={"tools": [{"name": name} for name in tools]})
    elif message["method"] == "tools/call":
        arguments = message["params"]["arguments"]
"""


def server(fake: Fake, *lines: str) -> str:
    """A fake program that answers a call with these lines."""
    return fake(SERVER + "".join(f"        {line}\n" for line in lines))


@pytest.fixture
def counted(program: str, tmp_path: Path) -> tuple[str, Path]:
    """The real program behind a script that notes each start, and the file with these notes."""
    if sys.platform == "win32":
        pytest.skip("a script is no program here")
    notes, script = tmp_path / "starts", tmp_path / "counted"
    notes.touch()
    script.write_text(f'#!/bin/sh\necho "$@" >> {notes}\nexec {program} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return str(script), notes


def pid_of(memories: Memories) -> int:
    session = memories._session  # pyright: ignore[reportPrivateUsage]
    assert session is not None
    return session._process.pid  # pyright: ignore[reportPrivateUsage]


def is_running(pid: int) -> bool:
    """Whether the process is there, and not only waits to be collected."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits, at most a minute, for what is certain to come."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)


def test_the_calls_of_many_turns_are_one_process(counted: tuple[str, Path], tmp_path: Path) -> None:
    program, notes = counted
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        assert notes.read_text() == ""
        for number in range(20):
            assert "Nothing" not in str(memories.recall(3))
            assert not memories.tried(3, f"push {number}").memories
            turn = Turn(f"push {number}", "It rings.", Place(3, "Attic"), location_after="3:Attic", world_changed=True)
            memories.record(dataclasses.replace(turn, remember=f"Push {number} rings", score_before=0, score_after=5))
            assert memories.tried(3, f"push {number}").memories[0].persistence == "permanent"
            assert (
                any(memory.name == "Attic" for memory in memories.top())
                and memories.path(3)
                and memories.frontier().start == Place(3, "Attic")
            )
    assert notes.read_text().splitlines() == [f"--json --quiet --file {tmp_path}/m.md mcp --tools places"]


def test_a_session_ends_with_its_block_and_another_one_begins(program: str, tmp_path: Path) -> None:
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        memories.frontier(3)
        first = pid_of(memories)
    assert not is_running(first)
    memories.close()
    memories.frontier(3)
    second = pid_of(memories)
    assert second != first and is_running(second)
    memories.close()
    assert not is_running(second)


def test_a_session_ends_with_its_object(program: str, tmp_path: Path) -> None:
    memories = Memories(tmp_path / "m.md", session=True, program=program)
    memories.frontier(3)
    pid = pid_of(memories)
    del memories
    gc.collect()
    assert not is_running(pid)


@pytest.mark.parametrize(
    "ending", ["", "raise SystemExit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
)
def test_a_session_ends_with_the_interpreter(program: str, tmp_path: Path, ending: str) -> None:
    source = (
        "import sys; from memories import *; m = Memories(sys.argv[1], session=True, program=sys.argv[2]);"
        "m.record(Turn('a', 'b', 3)); print(m._session._process.pid, flush=True);" + ending
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(_process.__file__).parents[1])}
    command = [sys.executable, "-X", "dev", "-c", source, str(tmp_path / "m.md"), program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
    wait_until(lambda: not is_running(int(done.stdout)))
    if not ending:
        assert done.stderr == ""


def test_a_killed_session_loses_no_later_call(program: str, tmp_path: Path) -> None:
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        memories.record(Turn("a", "b", 3))
        session = memories._session  # pyright: ignore[reportPrivateUsage]
        assert session is not None
        os.kill(pid_of(memories), signal.SIGKILL)
        wait_until(lambda: not session.is_usable)
        assert memories.record(Turn("c", "d", 3)).turn == 2


def test_a_call_whose_session_breaks_off_is_an_error_and_is_not_repeated(tmp_path: Path, fake: Fake) -> None:
    calls = tmp_path / "calls"
    program = server(
        fake,
        f"open({str(calls)!r}, 'a').write('call\\n')",
        f"if len(open({str(calls)!r}).readlines()) == 1: os._exit(9)",
        "answer(message, {'outcome': 'stored', 'memories': []})",
    )
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        with pytest.raises(MemoriesError, match=r"broke off \(exit code 9\): it said nothing") as caught:
            memories.record(Turn("a", "b", 3))
        assert caught.value.code is None
        assert calls.read_text() == "call\n"
        assert memories.record(Turn("a", "b", 3)).outcome == "stored"
        assert calls.read_text() == "call\ncall\n"


@pytest.mark.parametrize(
    ("is_stored", "said"),
    [(True, "the turn was recorded\nhint: do not record it again"), (False, "was not recorded\nhint: record it again")],
)
def test_a_turn_whose_session_breaks_off_is_looked_for(
    program: str, tmp_path: Path, fake: Fake, is_stored: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server records the turn, or not, and is gone before it answers. All else is the real program.
    monkeypatch.delenv("MEMORIES_NOW", raising=False)
    path = tmp_path / "m.md"
    turn = {"action": "push", "response": "Click.", "location": 3}
    Memories(path, program=program).record({**turn, "response": "Another reply."})
    recording = [program, "--quiet", "--file", str(path), "record"] if is_stored else ["true"]
    broken = server(
        fake,
        f"import subprocess; subprocess.run({recording!r}, input=json.dumps({turn!r}).encode(), capture_output=True)",
        "os.kill(os.getpid(), 9)",
    )
    if sys.platform == "win32":
        pytest.skip("a script is no program here")
    both = tmp_path / "both"
    script = f'#!/bin/sh\ncase "$*" in *mcp*) exec {broken} "$@";; esac\nexec {program} "$@"\n'
    both.write_text(script, encoding="utf-8")
    both.chmod(0o755)
    with Memories(path, session=True, program=str(both)) as memories:
        with pytest.raises(MemoriesError, match="broke off") as caught:
            memories.record(Turn("push", "Click.", 3))
        assert caught.value.stored is is_stored and said in str(caught.value)
        assert caught.value.code is None


def test_a_turn_is_told_from_others_by_its_time_and_words() -> None:
    def line(when: str, **turn: object) -> dict[str, Any]:
        return {"time": when, "turn": {"action": "push", "response": "Click.", "turn": 7, **turn}}

    begun, turn = 1_000_000_000.0, {"action": "push", "response": "Click."}
    early, now = "2001-09-09T01:46:39Z", "2001-09-09T01:46:40Z"
    cases: list[tuple[list[dict[str, Any]], bool | None]] = [
        ([], False),
        ([{"time": now, "command": "add"}], False),
        ([line(early)], False),
        ([line(now)], True),
        ([line(now, action="pull")], False),
        ([line(now, response="No.")], False),
        ([line(now, response="Your (GitHub token masked)")], None),
    ]
    for lines, expected in cases:
        assert _arguments.is_recorded(turn, begun, lines) is expected
    assert _arguments.is_recorded({**turn, "turn": 8}, begun, [line(now)]) is False


def test_a_session_that_hangs_is_ended(tmp_path: Path, fake: Fake) -> None:
    program = server(fake, "if arguments['action'] == 'hang': time.sleep(600)", "answer(message, {'outcome': 'x'})")
    with Memories(tmp_path / "m.md", session=True, program=program, timeout=5) as memories:
        memories.record(Turn("a", "b", 3))
        pid = pid_of(memories)
        memories._session._timeout = 0.2  # type: ignore[union-attr] # pyright: ignore
        with pytest.raises(MemoriesError, match=r"did not answer within 0.2 seconds and was ended") as caught:
            memories.record(Turn("hang", "b", 3))
        assert caught.value.code is None and not is_running(pid)
        assert memories.record(Turn("a", "b", 3)).outcome == "x"
        assert pid_of(memories) != pid


def test_a_hang_at_the_start_is_ended(tmp_path: Path, fake: Fake) -> None:
    program = fake("import time; time.sleep(600)")
    with pytest.raises(MemoriesError, match=r"did not answer within 0.2 seconds"):
        Memories(tmp_path / "m.md", session=True, program=program, timeout=0.2).top()


@pytest.mark.parametrize("rubbish", ["hello", "[]", "7", '{"id": []}', "\\xff"])
def test_rubbish_is_an_error(tmp_path: Path, fake: Fake, rubbish: str) -> None:
    program = fake(f"import sys; sys.stdin.readline(); print({rubbish!r}, flush=True); sys.stdin.read()")
    with pytest.raises(MemoriesError, match="did not answer with a JSON object: ") as caught:
        Memories(tmp_path / "m.md", session=True, program=program).top()
    assert caught.value.code is None


def test_a_program_that_is_missing_or_ends_at_once(tmp_path: Path, fake: Fake) -> None:
    with pytest.raises(MemoriesError, match="`/no/such` cannot be started"):
        Memories(tmp_path / "m.md", session=True, program="/no/such").top()
    program = fake("import sys; print('no such command: mcp', file=sys.stderr); sys.exit(2)")
    with pytest.raises(MemoriesError, match=r"broke off \(exit code 2\): no such command: mcp"):
        Memories(tmp_path / "m.md", session=True, program=program).top()


def test_an_error_at_the_start_is_that_of_a_process(program: str, tmp_path: Path) -> None:
    errors: list[MemoriesError] = []
    for session in (False, True):
        with pytest.raises(MemoriesError) as caught:
            Memories(tmp_path / "m.md", session=session, program=program, config=tmp_path / "none.toml").top()
        errors.append(caught.value)
    assert errors[0].code == 4 and "none.toml" in errors[0].message
    assert (errors[0].message, errors[0].hint, errors[0].code) == (errors[1].message, errors[1].hint, errors[1].code)


def test_an_error_of_the_protocol_is_a_mistake_of_the_program(tmp_path: Path, fake: Fake) -> None:
    program = server(fake, "say(id=message['id'], error={'code': -32603, 'message': 'it panicked'})")
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        for _ in range(2):
            with pytest.raises(MemoriesError, match="it panicked") as caught:
                memories.record(Turn("a", "b", 3))
            assert caught.value.code == 70


def test_notifications_and_strange_answers_are_skipped(tmp_path: Path, fake: Fake) -> None:
    program = server(
        fake,
        "say(method='notifications/message', params={'level': 'warning', 'data': 'x'})",
        "say(method='ping', id=message['id'] + 1000)",
        "say(id=message['id'] + 5, result={'_meta': {'memories/answer': {'outcome': 'of another call'}}})",
        "say(id='text', result={})",
        "print('\\n', flush=True) if False else None",
        "answer(message, {'outcome': 'mine'})",
    )
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        assert memories.record(Turn("a", "b", 3)).outcome == "mine"


def test_a_program_without_answers_for_programs_is_asked_by_processes(tmp_path: Path, fake: Fake) -> None:
    program = server(
        fake,
        "assert message['params']['_meta'] == {'memories/answer': True}",
        "told = {'memories': [{'title': 'Told', 'text': 'by the session'}]}",
        "meta = {'memories/answer': told} if arguments['limit'] == 2 else {}",
        "answer(message, {}, _meta=meta)",
    )
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        assert [(memory.title, memory.text) for memory in memories.top(2)] == [("Told", "by the session")]
        assert memories.top(3) == []


def test_a_tool_that_is_not_offered_and_a_long_request_are_processes(tmp_path: Path, fake: Fake) -> None:
    program = server(fake, "answer(message, {'outcome': 'by session'})")
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        assert memories.record(Turn("a", "b", 3)).outcome == "by session"
        assert memories.record(Turn("a", "b" * _session.LONGEST, 3)).outcome == ""
        assert memories.path(3, start=4).known is False


def test_memory_that_is_switched_off_answers_with_nothing(program: str, tmp_path: Path) -> None:
    (tmp_path / "memories.toml").write_text("enabled = false\n", encoding="utf-8")
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        assert memories.record(Turn("a", "b", 3)).outcome == ""
        assert not memories.tried(3, "a") and memories.top() == [] and str(memories.recall(3)) == ""


def test_warnings_go_to_the_logger(program: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "memories.toml").write_text('writer = "me"\n', encoding="utf-8")
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        memories.frontier(3)
        assert ["may not set `writer`" in record.message for record in caplog.records] == [True]
        caplog.clear()
        memories.frontier(3)
        recorded = memories.record(Turn("wait", "Time passes.", 3, remember="x", remember_importance=900))
    assert recorded.warnings and caplog.records == []


def test_several_threads_share_a_session(counted: tuple[str, Path], tmp_path: Path) -> None:
    program, notes = counted
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:

        def play(number: int) -> tuple[str, str, int | None]:
            recorded = memories.record(Turn(f"push {number}", "Nothing.", number % 7, world_changed=False))
            tried = memories.tried(number % 7, f"push {number}")
            return recorded.outcome, tried.action, recorded.turn

        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(play, range(80)))
    assert [action for _, action, _ in done] == [f"push {number}" for number in range(80)]
    assert {turn for _, _, turn in done} == set(range(1, 81))
    assert len(notes.read_text().splitlines()) == 1


def test_answers_that_overtake_each_other_find_their_call(tmp_path: Path, fake: Fake) -> None:
    program = server(
        fake,
        "late = globals().setdefault('late', [])",
        "late.append(message)",
        "if len(late) == 4: [answer(one, {'outcome': one['params']['arguments']['action']}) for one in late[::-1]]",
    )
    with Memories(tmp_path / "m.md", session=True, program=program) as memories, ThreadPoolExecutor(4) as pool:

        def play(name: str) -> str:
            return memories.record(Turn(name, "b", 3)).outcome

        done = list(pool.map(play, "abcd"))
    assert done == list("abcd")


def test_when_a_session_breaks_off_all_that_wait_are_told(tmp_path: Path, fake: Fake) -> None:
    program = server(fake, "n = globals().get('n', 0) + 1", "if n == 3: os._exit(9)")
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:

        def ask(name: str) -> int | None:
            with pytest.raises(MemoriesError, match="broke off") as caught:
                memories.record(Turn(name, "b", 3))
            return caught.value.code

        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(ask, "abc")) == [None] * 3


def test_a_session_may_be_closed_while_others_call(program: str, tmp_path: Path) -> None:
    memories = Memories(tmp_path / "m.md", session=True, program=program)
    done = threading.Event()

    def ask(_: int) -> int:
        answered = 0
        while not done.is_set() or not answered:
            with contextlib.suppress(MemoriesError):
                memories.frontier(3)
                answered += 1
        return answered

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, number) for number in range(4)]
        for _ in range(20):
            memories.close()
        done.set()
        assert all(one.result() for one in asked)
    memories.close()


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_call_and_not_the_session(tmp_path: Path, fake: Fake) -> None:
    begun = tmp_path / "begun"
    program = server(
        fake,
        f"if arguments['action'] == 'wait': open({str(begun)!r}, 'w').close(); continue",
        "answer(message, {'outcome': arguments['action']})",
    )
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        memories.record(Turn("a", "b", 3))
        pid = pid_of(memories)

        def interrupt() -> None:
            wait_until(begun.exists)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            memories.record(Turn("wait", "b", 3))
        thread.join()
        assert memories.record(Turn("b", "b", 3)).outcome == "b"
        assert pid_of(memories) == pid
        assert os.getpgid(pid) == pid, "Ctrl-C of the terminal would end it"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_a_session_of_its_own(program: str, tmp_path: Path) -> None:
    with Memories(tmp_path / "m.md", session=True, program=program) as memories:
        memories.record(Turn("a", "b", 3))
        pid = pid_of(memories)
        child = os.fork()
        if child == 0:
            try:
                turn = memories.record(Turn("c", "d", 3)).turn
                memories.close()
                os._exit(0 if turn == 2 and is_running(pid) else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert memories.record(Turn("e", "f", 3)).turn == 3
        assert pid_of(memories) == pid


def test_what_is_written_when_it_is_closed_is_whole(program: str, tmp_path: Path) -> None:
    memories = Memories(tmp_path / "m.md", session=True, program=program)
    memories.record(Turn("a", "b", 3))
    session = memories._session  # pyright: ignore[reportPrivateUsage]
    assert session is not None
    request = {"id": 99, "method": "tools/call"}
    arguments = {"location": "3", "action": "late", "response": "Click.", "world_changed": False}
    session._send({**request, "params": {"name": "record_turn", "arguments": arguments}})  # pyright: ignore
    memories.close()
    assert memories.tried(3, "late").verdict == "in_vain"
    journal = (tmp_path / ".memories" / "m.md" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(journal[-1])["turn"]["action"] == "late"
    memories.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_that_lives_on_does_not_keep_the_program(program: str, tmp_path: Path) -> None:
    memories = Memories(tmp_path / "m.md", program=program, session=True)
    assert memories.tried(5, "look").verdict == "no"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # until the parent has closed its session
        os._exit(0)
    begun = time.monotonic()
    memories.close()
    took = time.monotonic() - begun
    os.close(writing)
    os.close(reading)
    os.waitpid(child, 0)
    assert took < _session.PATIENCE, "the program was not told that nobody asks any more"
