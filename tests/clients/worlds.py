"""Worlds for the test of the page: five recorded episodes, a large one, and one of hostile texts."""

import json
import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TURNS = [ROOT / "fixtures" / "turns" / f"zork1_ep{episode}.jsonl" for episode in range(1, 6)]
WORDS = "lamp sword dark troll gallery stone river cave open door secret passage golden rusty key ancient altar".split()
COMPASS = {"east": (1, 0), "west": (-1, 0), "south": (0, 1), "north": (0, -1)}

# What has broken pages: markup, attributes, addresses, directions of writing, marks that pile up, words without end.
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<!--<script>window.hacked = 1//--></script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    "' onmouseover='window.hacked=1",
    "javascript:window.hacked=1//",
    "[link](javascript:window.hacked=1)",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "<style>*{position:fixed;inset:0;width:9999px}</style>",
    "<a href='data:text/html,<script>opener.hacked=1</script>'>x</a>",
    "{{constructor.constructor('window.hacked=1')()}}",
    "${window.hacked=1}",
    "\\u003cscript\\u003ewindow.hacked=1\\u003c/script\\u003e",
    "]]><script>window.hacked=1</script>",
    "\u202etxet desrever\u202e\u2067\u2066",
    "Z" + "\u0335\u0321\u034e\u0308\u0301" * 60 + "algo",
    "w" * 10_000,
    "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 80,
    "\ufdfd" * 40,
    "\u2028 line \u2029 paragraph \u0085 next",
    "null\x00byte and \x1b[31mred\x1b[0m",
    "-" * 3000,
    "__proto__",
    "</style></textarea></title><base href=//evil.example/>",
]


def run(program, folder, *arguments, **options):
    done = subprocess.run(
        [program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300, **options
    )
    assert done.returncode == 0, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def read_turns():
    return [line for file in TURNS for line in file.read_text().splitlines() if line.strip()]


def record(program, folder, turns):
    return run(program, folder, "record", "--turns", "-", input="\n".join(turns) + "\n")


def sections_of(program, folder):
    return json.loads(run(program, folder, "export", "--format", "json"))["sections"]


def hostile(count, seed=4142):
    """Hostile texts: each of the list, and mixtures of them with words."""
    chance = random.Random(seed)
    for number in range(count):
        text = HOSTILE[number % len(HOSTILE)]
        for _ in range(chance.randrange(3)):
            other = chance.choice(HOSTILE + WORDS)
            text = text[: chance.randrange(len(text) + 1)] + other + text[chance.randrange(len(text) + 1) :]
        yield f"{text} {number}"


def place_text(id, name, memories, ways):
    entries = "".join(
        f"**[{category}] {title}** *(Ep1, T{turn}, importance {importance})*\n{text}\n\n"
        for category, title, text, turn, importance in memories
    )
    lines = "".join(
        f"- `{action}` → [{target}](#location-{to}-{target.lower().replace(' ', '-')})\n" for action, to, target in ways
    )
    return f"## Location {id}: {name}\n**Visits:** {1 + id % 7} | **Episodes:** 1 (T1)\n\n### Memories\n\n{entries}### Ways\n\n{lines}\n---\n\n"


def large(places=1000, memories=10_000, wide=40, seed=7):
    """A memory file of that size: a grid of places, each with ways to its neighbours."""
    chance = random.Random(seed)
    words = lambda count: " ".join(chance.choice(WORDS) for _ in range(count))
    names = [f"{chance.choice(WORDS).title()} {chance.choice(WORDS).title()} {id}" for id in range(places)]
    text = "# Location Memories\n\n"
    for id in range(places):
        own = [
            (
                chance.choice(["NOTE", "DANGER", "DISCOVERY"]),
                f"{words(4)} {id}-{number}",
                words(20),
                number + 1,
                chance.choice([300, 500, 700, 900]),
            )
            for number in range(memories // places)
        ]
        ways = []
        for action, (dx, dy) in COMPASS.items():
            x, y = id % wide + dx, id // wide + dy
            if 0 <= x < wide and 0 <= y < places // wide and chance.random() < 0.8:
                ways.append((action, y * wide + x, names[y * wide + x]))
        text += place_text(id, names[id], own, ways)
    return text


def walk(count, places=1000, wide=40, seed=8):
    """Turns of a walk through the large world."""
    chance = random.Random(seed)
    at = places // 2
    for number in range(count):
        action, (dx, dy) = chance.choice(list(COMPASS.items()))
        x, y = min(max(at % wide + dx, 0), wide - 1), min(max(at // wide + dy, 0), places // wide - 1)
        to, reply = y * wide + x, f"You see {chance.choice(WORDS)} and {chance.choice(WORDS)} {number}."
        where = [{"id": id, "name": f"Place {id}"} for id in (at, to)]
        yield json.dumps(
            {
                "episode": 2 + number // 500,
                "turn": number % 500 + 1,
                "action": action,
                "response": reply,
                "location_before": where[0],
                "location_after": where[1],
                "score_before": 0,
                "score_after": 0,
                "moves_before": number,
                "moves_after": number + 1,
                "inventory_before": [],
                "inventory_after": [],
                "died": False,
                "valid": True,
            }
        )
        at = to


def hostile_world(count, places=100):
    """A memory file that somebody has written by hand, with hostile texts as names, titles, texts and actions."""
    texts = list(hostile(count))
    line = lambda text: " ".join(text.split())
    result = "# Location Memories\n\n"
    for id in range(places):
        own = texts[id::places]
        entries = [("NOTE", line(text)[:400] or "x", line(text), number + 1, 500) for number, text in enumerate(own)]
        result += place_text(
            id, line(texts[id])[:3000], entries, [(line(texts[id])[:60].replace("`", "'"), (id + 1) % places, "next")]
        )
    return result


def turn(number, action, before, after, **more):
    """A turn that leads from one place to another; places are pairs of id and name."""
    where = [{"id": id, "name": name} for id, name in (before, after)]
    said = {"response": f"{after[1]}. It is quiet here {number}.", "location_before": where[0], "location_after": where[1]}
    score = {"score_before": 0, "score_after": 0, "episode": 1, "turn": number}
    return json.dumps({"action": action, **score, **said, **more})


def tour(ways):
    """The turns of a walk along ways: action, place before, place after."""
    return [turn(number, *way, score_before=number - 1, score_after=number) for number, way in enumerate(ways, 1)]


def chain(names):
    """A walk to the east."""
    places = list(enumerate(names, 1))
    return tour(("east", before, after) for before, after in zip(places, places[1:]))


def hub(exits, name="Hub"):
    """A place with many exits, most of them no points of the compass, and a walk into each."""
    middle, doors = (1, name), [*COMPASS, "up", "down", *(f"enter door {number}" for number in range(exits))][:exits]
    ends = [(door, (number, f"Chamber of door {number}")) for number, door in enumerate(doors, 2)]
    return tour(way for door, end in ends for way in ((door, middle, end), ("out", end, middle)))


def square(names, wide):
    """A walk through a square of places, to and fro."""
    order = [row * wide + (column if row % 2 == 0 else wide - 1 - column) for row in range(-(-len(names) // wide)) for column in range(wide)]
    places = [(id + 1, names[id]) for id in order if id < len(names)]
    step = {1: "east", -1: "west"}
    return tour((step.get(after[0] - before[0], "south"), before, after) for before, after in zip(places, places[1:]))


CJK = "玄関 居間 台所 地下室への階段 屋根裏部屋 書斎 裏庭 井戸のある中庭 鐘楼 礼拝堂 図書館の閲覧室 門番小屋".split()

# Worlds of other shapes, as turns.
SHAPES = {
    "one place": [turn(1, "look", (1, "Cell"), (1, "Cell"))],
    "three places": chain(["Hall", "Kitchen", "Pantry"]),
    "chain of 60": chain([f"Cave {number}" for number in range(60)]),
    "hub of 30": hub(30),
    "names of 60 characters": square(
        [f"{word.title()} of the {WORDS[-number]} {WORDS[number]} where nobody has been for ages {number}"[:60] for number, word in enumerate(WORDS)], 5
    ),
    "names without spaces": square([f"{word.title() * 9}"[:60] for word in WORDS[:9]], 3),
    "Japanese names": square(CJK, 4),
    "square of 100": square([f"{WORDS[number % 17].title()} {WORDS[number % 13]} {number}" for number in range(100)], 10),
}
