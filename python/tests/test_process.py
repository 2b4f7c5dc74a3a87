"""One process a call: what is answered, what fails, and how."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memories import Memories, MemoriesError, Place, Turn, _process

Fake = Callable[[str], str]


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(MemoriesError, match="`/no/such` cannot be started: No such file") as caught:
        Memories(tmp_path / "m.md", program="/no/such").top()
    assert caught.value.code is None
    assert caught.value.hint is not None and "program=" in caught.value.hint


def test_no_program_at_all_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_process, "folders", list[Path])
    with pytest.raises(MemoriesError, match="`memories` is not installed") as caught:
        Memories()
    assert caught.value.hint is not None and "pip install memories-md" in caught.value.hint


def test_the_program_beside_the_module_comes_before_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fake: Fake
) -> None:
    beside, on_path = tmp_path / "beside", tmp_path / "path"
    name = Path(fake("")).rename(tmp_path / "memories")
    for folder in (beside, on_path):
        folder.mkdir()
        (folder / "memories").write_bytes(name.read_bytes())
        (folder / "memories").chmod(0o755)
    monkeypatch.setenv("PATH", str(on_path))
    monkeypatch.setattr(_process, "folders", lambda: [tmp_path / "none", beside])
    assert _process.find_program() == str(beside / "memories")
    monkeypatch.setattr(_process, "folders", lambda: [tmp_path / "none"])
    assert _process.find_program() == str(on_path / "memories")


def test_a_program_in_the_working_directory_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fake: Fake
) -> None:
    Path(fake("")).rename(tmp_path / "memories")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", ""]))
    monkeypatch.setattr(_process, "folders", list[Path])
    with pytest.raises(MemoriesError, match="is not installed"):
        _process.find_program()


def test_a_relative_program_stays_the_same_when_the_folder_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    (tmp_path / "mine").symlink_to(program)
    monkeypatch.chdir(tmp_path)
    memories = Memories("m.md", program="./mine")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert memories.tried(5, "look").verdict == "no"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys; print('Traceback: boom', file=sys.stderr); sys.exit(1)", r"broke off \(exit code 1\): Traceback"),
        ("", "did not answer with a JSON object"),
        ("import sys; print('other 1.0' if '--version' in sys.argv else '')", "'other 1.0"),
    ],
)
def test_another_program_that_says_nothing_is_not_memory_switched_off(
    tmp_path: Path, fake: Fake, source: str, message: str
) -> None:
    _process.check_program.cache_clear()
    with pytest.raises(MemoriesError, match=message):
        Memories(tmp_path / "m.md", program=fake(source)).record(Turn("a", "b", 5))


def test_long_times_are_cut_and_wrong_ones_refused(program: str, tmp_path: Path) -> None:
    for long in (float("inf"), 1e300, 30 * 86_400):
        memories = Memories(tmp_path / "m.md", program=program, timeout=long)
        assert memories.tried(5, "look").verdict == "no"
        turns = (Turn(f"push {number}", "Click.", 5) for number in range(3))
        assert memories.record_all(turns).turn_count == 3
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="above 0"):
            Memories(tmp_path / "m.md", program=program, timeout=wrong)


@pytest.mark.parametrize(
    ("modules", "programs"),
    [
        ("target", "target/bin"),
        ("prefix/lib/python3.99/site-packages", "prefix/bin"),
        ("home/.local/lib/python{version}/site-packages", "home/.local/bin"),
    ],
)
def test_the_program_is_found_where_pip_puts_it(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: str, programs: str
) -> None:
    if sys.platform == "win32":
        pytest.skip("the folders have other names here")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    installed = tmp_path / modules.format(version=version)
    shutil.copytree(Path(_process.__file__).parent, installed / "memories")
    (tmp_path / programs).mkdir(parents=True)
    (tmp_path / programs / "memories").symlink_to(program)
    source = "from memories import _process; print(_process.find_program())"
    environment = {"PATH": "/nowhere", "HOME": str(tmp_path / "home"), "PYTHONPATH": str(installed)}
    found = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=environment, check=True)
    assert found.stdout.strip() == str(tmp_path / programs / "memories")


def test_the_folder_of_this_interpreter_comes_after_those_of_the_module() -> None:
    folders = _process.folders()
    assert folders[0] == Path(_process.__file__).parents[1] / "bin"
    assert Path(sys.prefix) in folders[1].parents


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("print('hello')", "did not answer with a JSON object: 'hello"),
        ("print('[1]')", "did not answer with a JSON object"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", r"broke off \(signal 9\): it said nothing"),
        ("import os, signal; print('{}', flush=True); os.kill(os.getpid(), 15)", r"broke off \(signal 15\)"),
    ],
)
def test_what_is_no_answer_is_an_error_without_code(tmp_path: Path, fake: Fake, source: str, message: str) -> None:
    with pytest.raises(MemoriesError, match=message) as caught:
        Memories(tmp_path / "m.md", program=fake(source)).top()
    assert caught.value.code is None


def test_a_mistake_of_the_program_has_its_code(tmp_path: Path, fake: Fake) -> None:
    program = fake("import sys; print('thread main panicked', file=sys.stderr); sys.exit(70)")
    with pytest.raises(MemoriesError, match=r"broke off \(exit code 70\): thread main panicked") as caught:
        Memories(tmp_path / "m.md", program=program).top()
    assert caught.value.code == 70


def test_an_error_that_is_not_json_still_has_its_code(tmp_path: Path, fake: Fake) -> None:
    program = fake("import sys; print('usage: other', file=sys.stderr); sys.exit(2)")
    with pytest.raises(MemoriesError, match="did not say why it failed: 'usage: other'") as caught:
        Memories(tmp_path / "m.md", program=program).top()
    assert caught.value.code == 2


@pytest.mark.parametrize("before", ["", "print('{}', flush=True); os.close(1); os.close(2);"])
def test_a_program_that_hangs_is_ended(tmp_path: Path, fake: Fake, before: str) -> None:
    begun = time.monotonic()
    program = fake(f"import os, time; {before} time.sleep(600)")
    with pytest.raises(MemoriesError, match="did not answer within 0.2 seconds and was ended") as caught:
        Memories(tmp_path / "m.md", program=program, timeout=0.2).top()
    assert caught.value.code is None
    assert time.monotonic() - begun < 30


def test_the_error_can_be_pickled_and_shows_its_hint() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(MemoriesError("no place", "name one", 4)))
    assert (error.message, error.hint, error.code, str(error)) == (
        "no place",
        "name one",
        4,
        "no place\nhint: name one",
    )
    assert str(MemoriesError("no place")) == "no place"


def test_texts_go_as_they_are(memories: Memories) -> None:
    memories.record(Turn("sing \U0001f600 北", "Ünï\u2028code.\n", Place(3, "Café — 'x' \"y\""), world_changed=False))
    assert memories.tried(3, "sing \U0001f600 北")
    assert memories.recall(3).scopes[0].name == "Café — 'x' \"y\""


@pytest.mark.parametrize("action", ["--help", "-q", "-1", "--", "-f x"])
def test_an_action_that_begins_with_a_dash_is_an_action(memories: Memories, action: str) -> None:
    memories.record(Turn(action, "Nothing happens.", 3, world_changed=False))
    tried = memories.tried(3, action)
    assert (bool(tried), tried.action) == (True, action)
    assert memories.query(f"{action} here") == []


@pytest.mark.parametrize("place", ["-foo", "--json", "-f"])
def test_a_place_that_begins_with_a_dash_is_a_place(memories: Memories, place: str) -> None:
    memories.record(Turn("wait", "Time passes.", 3))
    calls: list[Callable[[], object]] = [
        lambda: memories.path(place),
        lambda: memories.path(3, start=place),
        lambda: memories.frontier(place),
        lambda: memories.recall(place),
        lambda: memories.tried(place, "x"),
    ]
    for call in calls:
        with pytest.raises(MemoriesError, match=f"no place is called `{place}`"):
            call()


def test_nul_and_half_characters_are_plain_errors(memories: Memories) -> None:
    for text in ("a\0b", "a\ud800b", "a\udc80b"):
        with pytest.raises(MemoriesError) as caught:
            memories.query(text)
        assert caught.value.code == 2
    with pytest.raises(MemoriesError, match="not Unicode"):
        memories.record(Turn("a\ud800", "b", 3))
    # In JSON it is a character like others; the program replaces it.
    attempt = memories.record(Turn("a\0b", "c\0", 3)).attempt
    assert attempt is not None and (attempt.action, attempt.reply) == ("a\ufffdb", "c\ufffd")
    assert memories.tried(3, "a\0b").verdict == "unknown_effect"
    assert not memories.recall("world").memories


def test_long_texts_go_by_stdin(memories: Memories) -> None:
    long = "The corridor goes on. " * 20_000
    assert memories.record(Turn("go", long, 3, world_changed=True)).place == Place(3)
    assert memories.add(3, long, title="Long").text.startswith("The corridor goes on. The")
    with pytest.raises(MemoriesError, match="too long") as caught:
        memories.tried(3, long)
    assert caught.value.code == 2 and caught.value.hint


def test_nothing_is_read_from_the_callers_stdin(program: str, tmp_path: Path) -> None:
    source = "from memories import Memories; import sys; Memories(program=sys.argv[1]).top(); print(sys.stdin.read())"
    environment = {**os.environ, "PYTHONPATH": str(Path(_process.__file__).parents[1])}
    command = [sys.executable, "-c", source, program]
    done = subprocess.run(command, input=b"mine", capture_output=True, check=True, cwd=tmp_path, env=environment)
    assert done.stdout.strip() == b"mine"


def test_the_file_stays_the_same_when_the_folder_changes(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    monkeypatch.chdir(first)
    memories = Memories("Memories.md", program=program)
    monkeypatch.chdir(second)
    memories.add("world", "It rains.")
    assert (first / "Memories.md").is_file()
    assert not list(second.iterdir())


def test_warnings_go_to_the_logger(program: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "Memories.md"
    path.write_text("## Location 3: A\n\n## Locaton 9: B\n", encoding="utf-8")
    memories = Memories(path, program=program)
    with caplog.at_level(logging.INFO, "memories"):
        memories.recall(3)
    assert [(record.name, record.levelname) for record in caplog.records] == [("memories", "WARNING")]
    assert "`## Locaton 9: B` starts like a section" in caplog.text
    caplog.clear()
    recorded = memories.record({"action": "a", "response": "b", "location": 3, "scor": 5})
    assert "unknown field `scor`" in recorded.warnings[0]
    assert "scor" not in caplog.text


def test_memory_that_is_switched_off_answers_with_nothing(program: str, tmp_path: Path) -> None:
    (tmp_path / "memories.toml").write_text("enabled = false\n", encoding="utf-8")
    memories = Memories(tmp_path / "Memories.md", program=program)
    assert memories.record(Turn("a", "b", 3)).outcome == ""
    assert (str(memories.recall(3)), memories.recall(3).memories) == ("", ())
    assert not memories.tried(3, "a") and not memories.path(3, start=4)
    assert (memories.top(), memories.query("a"), memories.frontier(3).places) == ([], [], ())
    assert memories.add(3, "a").outcome == "" and memories.start_episode() == 0
    assert memories.record_all([Turn("a", "b", 3)]).turn_count == 0


def test_settings_can_be_named(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.toml").write_text("enabled = false\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    memories = Memories(program=program, config="other.toml")
    assert memories.add("world", "It rains.").outcome == ""


def test_other_commands_are_run(memories: Memories) -> None:
    memories.add(3, "It rains.", name="Attic")
    assert memories.run("show", 3)["memories"][0]["text"] == "It rains."
    memories.record(Turn("wait", "Time passes.", 3))
    assert [line["outcome"] for line in memories.run("log")["lines"]] == ["stored", "not_significant"]
    assert [line["outcome"] for line in memories.run("log", "-n", 1)["lines"]] == ["not_significant"]
    assert memories.run("check")["problems"] == []
    added = memories.run("add", "world", input=json.dumps({"text": "It snows.", "importance": 900}))
    assert added["importance"] == 900
    with pytest.raises(MemoriesError, match="unrecognized subcommand 'sing'") as caught:
        memories.run("sing")
    assert caught.value.code == 2


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_program_and_the_call(tmp_path: Path, fake: Fake) -> None:
    begun = tmp_path / "begun"
    program = fake(f"import time; open({str(begun)!r}, 'w').write(str(__import__('os').getpid())); time.sleep(600)")
    memories = Memories(tmp_path / "m.md", program=program)

    def interrupt() -> None:
        while not begun.exists() or not begun.read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        memories.top()
    thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)


def test_python_m_memories_is_the_program(program: str, tmp_path: Path) -> None:
    on_path = tmp_path / Path(program).name
    on_path.symlink_to(program)
    environment = {**os.environ, "PYTHONPATH": str(Path(_process.__file__).parents[1]), "PATH": str(tmp_path)}
    command = [sys.executable, "-m", "memories"]
    asked = subprocess.run(
        [*command, "tried", "3", "sing"], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert (asked.returncode, asked.stdout.partition(":")[0]) == (1, "no")
    on_path.unlink()
    missing = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert missing.returncode == 4
    assert missing.stderr.startswith("error: the program `memories` is not installed\nhint: ")
