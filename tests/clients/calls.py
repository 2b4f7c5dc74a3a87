"""What both clients ask of the server: every tool once as it is meant, and once so that it must refuse."""

import json
import pathlib
import shutil
import subprocess
import tempfile

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORY = ROOT / "tests" / "processes" / "mcp" / "story.md"

# Tool, arguments, and what its text must hold. They are called in this order on one file.
GOOD = [
    ("get_location_memories", {"location": "Living Room"}, "Acquire brass lantern"),
    ("get_top_memories", {"limit": 3}, "1. [DANGER] Trap door shuts"),
    ("query_memories", {"question": "where is light?"}, "Brass lantern"),
    ("check_action", {"location": "23", "action": "eat rug"}, 'leave it: "eat rug" 2 times'),
    (
        "record_turn",
        {"location": "23", "action": "open case", "response": "The case is open.", "remember": "The case opens."},
        "stored",
    ),
    ("find_path", {"from": "23", "to": "23"}, "is where you are"),
    ("unexplored", {}, "Directions never tried, from Living Room"),
    ("next_steps", {}, "No run of this game is known"),
    ("query_self", {}, "pragmatic project manager"),
    ("query_background", {}, "No relevant memories found."),
    ("query_communication_style", {}, "Short and to the point."),
    ("query_scene", {}, "Alex's apartment"),
    ("query_character", {"name": "Jordan"}, "dreamer"),
    ("form_memory", {"content": "I promised to cook.", "importance": 700, "type": "episodic", "turn": 3}, "stored"),
    ("reinforce_memory", {"title": "I promised to cook."}, "keeps importance 700"),
    ("associate_memories", {"a": "I promised to cook.", "b": "Trap door shuts"}, "linked [["),
    ("supersede_memory", {"title": "Trap door shuts", "content": "It shuts and is barred."}, "in location:23 stays: it "),
    ("invalidate_memory", {"title": "The case opens.", "reason": "It was glued."}, "is struck"),
    ("recall_episodes", {"query": "food and cooking", "time_range": "1-3", "importance_threshold": 1}, "Italian"),
    ("recall_facts", {"topic": "lantern"}, "confidence"),
    ("recall_interactions", {"character": "Jordan"}, "I love Italian food."),
    ("check_similar_situations", {"context": "a door shuts behind me"}, "barred"),
    ("memory_status", {}, "you are alex"),
]

# Tool, arguments, and what the refusal must hold.
BAD = [
    ("get_location_memories", {"location": "Livin Room"}, "did you mean `Living Room`?"),
    ("get_location_memories", {"location": " "}, "`location` is empty"),
    ("get_top_memories", {"limits": 3}, "did you mean `limit`?"),
    ("query_memories", {"question": " "}, "`question` is empty"),
    ("check_action", {"location": "Atlantis", "action": "swim"}, "no place is called"),
    ("record_turn", {"location": "Atlantis", "action": "swim", "response": "Splash."}, "no place is called"),
    ("find_path", {"to": "Atlantis"}, "no place is called"),
    ("unexplored", {"from": "world"}, "is not a place"),
    ("next_steps", {"from": "world"}, "is not a place"),
    ("query_character", {"name": "Jordn"}, "did you mean"),
    ("form_memory", {"content": "x", "scope": "agent:jordan"}, "is another agent"),
    ("reinforce_memory", {"title": "Brass lantern"}, "did you mean `Acquire brass lantern`?"),
    ("associate_memories", {"a": "How I speak", "b": "How I speek"}, "did you mean `How I speak`?"),
    ("supersede_memory", {"title": "Nothing like it", "content": "x"}, "no live memory"),
    ("invalidate_memory", {"title": "How I speak", "reason": " "}, "`reason` is empty"),
    ("recall_episodes", {"query": "x", "time_range": "soon"}, "is not a time range"),
    ("recall_facts", {"topic": " "}, "`topic` is empty"),
    ("recall_interactions", {"character": "Zoe"}, "nobody called `Zoe`"),
    ("check_similar_situations", {"context": " "}, "`context` is empty"),
]

PROMPTS = [
    ("consult_memory_first", {"location": "23", "characters": "Jordan, Zoe"}, "no relevant memories"),
    ("explore_with_memory", {"location": "23"}, "check_action"),
    ("gifted_memories", {}, "query_self"),
]


def world():
    """A folder with a memory file of its own."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memories-"))
    shutil.copy(STORY, folder / "Memories.md")
    return folder


def check_answer(tool, arguments, expected, text, values, schema):
    """What a tool answered is what was meant, and as its schema has it."""
    assert expected in text, f"{tool} {arguments}: {expected!r} is not in {text!r}"
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(values)


def check_refusal(tool, arguments, expected, text):
    """A refusal says what is wrong and what to do next."""
    assert expected in text, f"{tool} {arguments}: {expected!r} is not in {text!r}"
    assert "\nhint: " in text, f"{tool} {arguments}: no hint in {text!r}"


def check_file(program, folder):
    """The file that all this was done to has no problems."""
    done = subprocess.run([program, "check"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def as_text(value):
    """An argument as a command line has it."""
    return value if isinstance(value, str) else json.dumps(value)
