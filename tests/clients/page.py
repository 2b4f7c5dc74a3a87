"""The page of `report` and `serve` in a real browser: headless Chromium, driven by Playwright, judged by axe.

    python page.py MODULES PROGRAM [--screenshots FOLDER]

MODULES is the folder of the npm packages (axe-core). The browser is the system's `chromium`. Ends with 0 where all is as
expected; prints what was measured.
"""

import argparse
import contextlib
import http.server
import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import worlds
from playwright.sync_api import sync_playwright

SIZES = [(390, 844), (1024, 768), (1440, 900)]
FIRST_VIEWS = [(390, 844), (1440, 900)]
READABLE = 11  # pixels
SEED = 20
FIRST_PAINT = 1000  # milliseconds
FRAMES = 30  # a second
LIVE = 300  # milliseconds after `record` returned

# Sets the slider anew in each frame, back and forth over all of time, and gives the milliseconds between frames.
DRAG = """() => new Promise((done) => {
  const slider = document.getElementById("slider");
  const times = [];
  let [frame, last] = [0, performance.now()];
  function next(now) {
    times.push(now - last);
    last = now;
    frame += 1;
    if (frame > 150) return done(times.slice(5));
    slider.value = String(Math.round(Number(slider.max) * (0.5 + 0.5 * Math.sin(frame / 23))));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    requestAnimationFrame(next);
  }
  requestAnimationFrame(next);
})"""

# Boxes that stick out of their container, to the left or right; one that scrolls or cuts off may be wider within.
OUTSIDE = """(selector) => {
  const box = document.querySelector(selector);
  const edge = box.getBoundingClientRect();
  const wrong = [];
  const walk = (node, { left, right }) => {
    for (const child of node.children) {
      const at = child.getBoundingClientRect();
      if (at.width > 1 && at.height > 0 && (at.left < left - 1.5 || at.right > right + 1.5)) {
        wrong.push(`${child.tagName}.${child.className} ${at.left}-${at.right} of ${left}-${right}: ${child.textContent.slice(0, 60)}`);
      } else if (getComputedStyle(child).overflowX === "visible") walk(child, { left, right });
    }
  };
  walk(box, edge);
  return wrong.slice(0, 3);
}"""

# What a reader sees of the map: faults of its first view, and how many of the visited places have their names. A name is
# there as a whole or not at all; boxes and names meet no others and stand within the map, and nothing stands over it.
FIRST_VIEW = """(readable) => {
  const { app } = memoriesPage;
  const svg = document.querySelector("#map svg");
  const map = svg.getBoundingClientRect();
  const faults = [];
  const plain = (text) => text.replace(/\\s+/g, "");
  const meets = (one, other) => one.left < other.right - 0.5 && other.left < one.right - 0.5
    && one.top < other.bottom - 0.5 && other.top < one.bottom - 0.5;
  const within = (rect) => rect.left >= map.left - 0.5 && rect.right <= map.right + 0.5
    && rect.top >= map.top - 0.5 && rect.bottom <= map.bottom + 0.5;
  const drawn = [];
  const boxes = [];
  for (const { place, group, detail, text } of app.map.boxes.values()) {
    const visited = place.facts?.visits > 0;
    if (visited && group.getAttribute("visibility") !== "visible") faults.push(`${text} is hidden`);
    if (!place.known) continue;
    const box = group.querySelector("rect").getBoundingClientRect();
    if (visited && !within(box)) faults.push(`${text} is outside`);
    boxes.push({ id: place.id, rect: box, what: `the box of ${text}` });
    const name = detail?.querySelector(".name");
    if (!name) continue;
    const lines = [...name.querySelectorAll("tspan")].map((line) => line.textContent);
    if (plain(lines.join("")) !== plain(text)) faults.push(`${text} is cut: ${lines.join("/")}`);
    const size = Number(name.getAttribute("font-size")) * name.getScreenCTM().a;
    if (size < readable - 0.01) faults.push(`${text} has letters of ${size} pixels`);
    const rect = name.getBoundingClientRect();
    // Above and below the letters a line has some room.
    const tight = { left: rect.left, right: rect.right, top: rect.top + 2, bottom: rect.bottom - 2 };
    if (!within(tight)) faults.push(`the name ${text} is outside`);
    drawn.push({ id: place.id, rect: tight, what: `the name ${text}`, visited });
  }
  for (const [at, one] of drawn.entries()) {
    for (const other of drawn.slice(0, at)) if (meets(one.rect, other.rect)) faults.push(`${one.what} meets ${other.what}`);
    for (const box of boxes) if (box.id !== one.id && meets(one.rect, box.rect)) faults.push(`${one.what} meets ${box.what}`);
  }
  for (const [at, one] of boxes.entries())
    for (const other of boxes.slice(0, at)) if (meets(one.rect, other.rect)) faults.push(`${one.what} meets ${other.what}`);
  for (const over of document.querySelectorAll("#map-colours, #map-zoom, #legend, #map-note, #figures, #time"))
    if (!over.hidden && meets(map, over.getBoundingClientRect())) faults.push(`${over.id} stands over the map`);
  const start = boxes.find(({ id }) => id === app.map.startId);
  if (boxes.length > 0 && !(start && within(start.rect))) faults.push("the start is not in sight");
  const named = drawn.filter(({ visited }) => visited).length;
  return { faults: faults.slice(0, 5), named, all: boxes.length, width: map.width, start: app.map.startId,
    names: drawn.map(({ id }) => id) };
}"""


class Watched:
    """A page and all that it has asked for, said and tried."""

    def __init__(self, browser, width=1280, height=800, **options):
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self.context.new_page()
        self.requests, self.problems = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on(
            "console",
            lambda message: self.problems.append(message.text) if message.type in ("error", "warning") else None,
        )
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))

    def open(self, url):
        self.page.goto(url)
        self.page.wait_for_function("() => globalThis.memoriesPage?.app?.drawn !== undefined")
        return self.page

    def close(self, allowed):
        """Nothing went wrong, and nothing was asked for but what begins as allowed."""
        self.context.close()
        assert not self.problems, self.problems[:5]
        others = [url for url in self.requests if not url.startswith((allowed, "data:,"))]
        assert not others, others[:5]


def record_in_parts(program, folder, copies, turns):
    """Records all turns; after those of `turns` (their numbers) it keeps what the file holds. Gives the sections then."""
    lines, states, before = worlds.read_turns(), {}, 0
    for turn in [*sorted(turns), len(lines)]:
        if turn > before:
            worlds.record(program, folder, lines[before:turn])
        before = turn
        if turn in turns:
            shutil.copy(folder / "Memories.md", copies / "Memories.md")
            states[turn] = worlds.sections_of(program, copies)
    return states


def facts_of_file(section):
    """What a section of `export` says, as sorted lists."""
    return {
        "name": section["name"],
        "visits": section.get("visits", 0),
        "memories": sorted(
            [m["category"], m["title"], m["text"], m["status"], m["persistence"]] for m in section["memories"]
        ),
        "ways": sorted([way["action"], way["to"], way["count"], way.get("after", [])] for way in section.get("ways", [])),
        "worked": sorted([one["action"], one["count"]] for one in section.get("worked", [])),
        "tried": sorted([one["action"], one["count"], one.get("reply", "")] for one in section.get("tried", [])),
    }


def facts_of_page(section):
    """The same of what the page shows."""
    of = lambda kind: [part for part in section["parts"] if part["k"] == kind]
    return {
        "name": section["name"],
        "visits": sum(part["visits"] for part in of("visits")),
        "memories": sorted([m["category"], m["title"], m["text"], m["status"], m["persistence"]] for m in of("memory")),
        "ways": sorted([way["action"], way["to"], way["times"], way.get("after", [])] for way in of("way")),
        "worked": sorted([one["action"], one["times"]] for part in of("worked") for one in part["actions"]),
        "tried": sorted(
            [one["action"], one["times"], part.get("reply", "")] for part in of("tried") for one in part["actions"]
        ),
    }


def check_step(page, step, sections):
    """At a step the page shows what the file held: in its data, and, for one place, in the panel."""
    page.evaluate(
        "step => { const slider = document.getElementById('slider'); slider.value = String(step);"
        " slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        step,
    )
    page.wait_for_function("step => memoriesPage.app.drawn === step", arg=step)
    there = page.evaluate(
        "step => memoriesPage.app.world.sections.map(({ scope }) => [scope, memoriesPage.sectionAt(scope, step)])", step
    )
    shown = {scope: facts_of_page(section) for scope, section in there if section}
    held = {section["scope"]: facts_of_file(section) for section in sections}
    assert shown.keys() == held.keys(), (step, shown.keys() ^ held.keys())
    for scope, facts in held.items():
        assert shown[scope] == facts, (step, scope, shown[scope], facts)
    most = max(held, key=lambda scope: len(held[scope]["memories"]))
    page.evaluate("scope => memoriesPage.app.choose(scope)", most)
    titles = page.locator("#place .memory-head > :is(strong, s)").all_text_contents()
    assert sorted(titles) == sorted(memory[1] for memory in held[most]["memories"]), (step, most, titles)


def check_search(page):
    """Enter opens the first hit; a hit is the memory, and then, lighter, its place; the count is a sentence."""
    page.locator("#question").fill("mailbox")
    page.locator("#found .hit").first.wait_for()
    hits = page.locator("#found .hit").count()
    first = page.locator("#found .hit").first
    name, where = first.locator(".hit-name").inner_text(), first.locator(".hit-where").inner_text()
    weights = [
        first.locator(part).evaluate("node => Number(getComputedStyle(node).fontWeight)")
        for part in (".hit-name", ".hit-where")
    ]
    assert "mailbox" in name.lower() and "mailbox" not in where.lower() and weights[0] > weights[1], (name, where, weights)
    words = page.locator("#found p").first.inner_text()
    assert re.match(rf"{hits} hits? (was|were) found by words\. [A-Z][^.]*\.$", words), words
    page.locator("#question").press("Enter")
    page.locator("#found").wait_for(state="hidden")
    assert page.locator("#place-name").inner_text() == where, where
    assert name in page.locator("#place .memory-head").all_inner_texts()[0] or page.locator(
        "#place .memory-head", has_text=name
    ).count(), name


def check_figures(page, program, folder, stats):
    """The first figures are how far the play got, what is next, and what kills."""
    route = json.loads(worlds.run(program, folder, "route", "--json"))
    frontier = json.loads(worlds.run(program, folder, "map", "frontier", "-n", "1000", "--json"))["places"]
    described = sum(bool(place["named"]) for place in frontier)
    values = page.locator(".figure .value").all_inner_texts()
    assert values[:2] == [str(route["score"]), str(described)], values
    far, following, kills = page.locator(".figure").all_inner_texts()
    assert f"{len(route['steps'])} steps" in far and f"{stats['coverage']['visited']} places visited" in far, far
    assert all(place["name"] in following and place["named"][0] in following for place in frontier[:2]), following
    assert int(values[2]) > 0 and "kill" in kills, kills
    for part in ("repeat", "token"):
        assert part not in page.locator("#figures").inner_text() + page.locator("#effect").inner_text().lower().split("tokens a recall")[0], part


def check_important(page, program, folder):
    """The list is that of `top`."""
    top = json.loads(worlds.run(program, folder, "top", "-n", "20", "--json"))["memories"]
    page.locator("#tab-important").click()
    shown = page.locator("#list .memory").evaluate_all(
        "cards => cards.map((card) => [card.querySelector('.memory-head strong').textContent, card.querySelector('.memory-foot .link').textContent])"
    )
    names = [[memory["title"], memory["name"] or "The game"] for memory in top]
    assert shown == names, (shown, names)


def check_run(page, program, folder):
    """The best run is drawn from place to place, and the slider walks along it."""
    steps = json.loads(worlds.run(program, folder, "route", "--json"))["steps"]
    page.keyboard.press("Escape")
    page.locator("#time-run").click()
    page.wait_for_function("() => memoriesPage.app.walked === 0")
    assert page.locator("#slider").get_attribute("max") == str(len(steps))
    page.locator("#slider").focus()
    walked = set()
    for number, step in enumerate(steps):
        page.wait_for_function("stop => memoriesPage.app.walked === stop", arg=number)
        words = page.locator("#step").inner_text()
        assert f"step {number + 1} of {len(steps)}" in words and step["action"] in words, (number, words)
        at = page.evaluate(
            "id => { const [box, mark] = [document.querySelector(`#place-${id} > rect`), document.querySelector('circle.here')]"
            ".map((node) => node.getBoundingClientRect()); return [(mark.left + mark.right) / 2 - box.right, (mark.top + mark.bottom) / 2 - box.top]; }",
            step["place"]["id"],
        )
        assert max(map(abs, at)) < 4, (number, step, at)
        walked.add(step["place"]["id"])
        page.keyboard.press("ArrowRight")
    page.wait_for_function("stop => memoriesPage.app.walked === stop", arg=len(steps))
    legs = page.evaluate(
        "memoriesPage.app.map.run.legs.map(({ from, to, line }) => [from, to, line.getAttribute('visibility'), line.classList.contains('walked'), line.getTotalLength() > 0])"
    )
    assert legs and all(leg[2:] == ["visible", True, True] for leg in legs), legs
    assert walked <= {id for leg in legs for id in leg[:2]}
    page.locator("#time-run").click()
    page.wait_for_function("() => memoriesPage.app.walked === null")
    assert page.locator("#slider").input_value() == str(page.evaluate("memoriesPage.app.world.last"))


def first_view(browser, folder, width, height, **options):
    """The page of a folder, and what is seen of its map at first."""
    watched = Watched(browser, width, height, **options)
    page = watched.open((folder / "world.html").as_uri())
    # Names are placed when the page has its final size.
    page.wait_for_timeout(250)
    return watched, page.evaluate(FIRST_VIEW, READABLE)


def check_first_views(browser, program, five, root):
    """All visited places and the start are in sight at first, names are whole, and nothing meets: in worlds of all shapes."""
    told = []
    for name, turns in {"five episodes": None, **worlds.SHAPES}.items():
        folder = root / name.replace(" ", "-")
        if turns is None:
            folder = five
        else:
            folder.mkdir()
            worlds.record(program, folder, turns)
            worlds.run(program, folder, "report", "-o", "world.html")
        for width, height in FIRST_VIEWS:
            watched, seen = first_view(browser, folder, width, height)
            assert not seen["faults"], (name, width, seen)
            assert seen["start"] in seen["names"], (name, width, "the start has no name", seen)
            if width == 1440:
                assert seen["named"] >= min(seen["all"], 31), (name, seen)
            else:
                assert seen["width"] >= width - 2, (name, seen)
            told.append(f"{name} {seen['named']}/{seen['all']}")
            watched.close("file://")
    print(f"page: the first view has all visited places, named at {' and '.join(f'{w} px' for w, _ in FIRST_VIEWS)}: {', '.join(told)}")


def check_too_large(browser, program, folder):
    """Of a world that no screen shows the surroundings of the start can be read, and one button shows all."""
    (folder / "Memories.md").write_text(worlds.large(places=2000, memories=2000, wide=100))
    worlds.run(program, folder, "report", "-o", "world.html")
    watched, seen = first_view(browser, folder, 390, 844)
    page = watched.page
    assert page.locator("#map-note").is_visible()
    assert seen["start"] in seen["names"], seen
    assert all("outside" in fault for fault in seen["faults"]), seen
    page.get_by_role("button", name="Show the whole world").click()
    page.wait_for_timeout(250)
    faults = page.evaluate(FIRST_VIEW, READABLE)["faults"]
    assert not faults, faults
    assert not page.locator("#map-note").is_visible()
    watched.close("file://")


def check_report(browser, program, folder, copies):
    """Five episodes: search, a place, a figure, and time at 20 turns."""
    chance = random.Random(SEED)
    turns = set(chance.sample(range(1, len(worlds.read_turns()) + 1), 20))
    states = record_in_parts(program, folder, copies, turns)
    worlds.run(program, folder, "report", "-o", "world.html", "--title", "Zork I")
    stats = json.loads(worlds.run(program, folder, "stats", "--json"))
    watched = Watched(browser)
    page = watched.open((folder / "world.html").as_uri())
    assert page.title() == "Zork I"

    page.keyboard.press("/")
    page.keyboard.type("living room")
    page.locator("#found .hit").first.wait_for()
    page.keyboard.press("Enter")
    page.locator("#place-name").wait_for()
    assert page.locator("#place-name").inner_text() == "Living Room"
    check_search(page)
    check_figures(page, program, folder, stats)
    check_important(page, program, folder)
    check_run(page, program, folder)
    rows = page.locator("[data-chart=places] tbody tr").all_text_contents()
    assert rows == [
        f"{one['episode']}{one['coverage']['visited']}{one['coverage']['with_memories']}" for one in stats["by_episode"]
    ], rows

    step_of = {
        number: index
        for index, number in enumerate(
            page.evaluate("memoriesPage.app.world.steps.map((step, index) => step.kind === 'turn' ? index : -1)")
        )
        if number >= 0
    }
    steps = [step for step in sorted(step_of)]
    for turn in sorted(turns):
        check_step(page, steps[turn - 1], states[turn])
    watched.close("file://")
    print(f"page: {len(turns)} states of the past are those of the file, {len(steps)} turns")


def check_keyboard(browser, folder):
    """The map, the slider, the tabs and the panel without a mouse."""
    watched = Watched(browser)
    page = watched.open((folder / "world.html").as_uri())
    page.evaluate("memoriesPage.app.map.keys.focus(75)")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.id") == "27", "east of the Living Room is the Kitchen"
    page.keyboard.press("Enter")
    assert page.locator("#place-name").inner_text() == "Kitchen"
    page.keyboard.press("Escape")
    assert page.locator("#place").is_hidden()
    page.locator("#slider").focus()
    last = page.evaluate("memoriesPage.app.world.last")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("step => memoriesPage.app.drawn === step", arg=last - 1)
    assert page.locator("#past").is_visible()
    page.locator("#tab-important").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-log").get_attribute("aria-selected") == "true"
    watched.close("file://")


def check_axe(browser, folder, modules):
    source = (modules / "node_modules" / "axe-core" / "axe.min.js").read_text()
    for scheme in ("light", "dark"):
        for width in (390, 1024, 1440):
            watched = Watched(browser, width, color_scheme=scheme, reduced_motion="reduce")
            page = watched.open((folder / "world.html").as_uri())
            page.evaluate(source)
            for state in ("first", "place", "log"):
                if state == "place":
                    page.evaluate("memoriesPage.app.choose('location:75', true)")
                    page.locator(".recall summary").click()
                elif state == "log":
                    page.locator("#tab-log").click()
                    page.locator("[data-chart=milestones] summary").click()
                page.wait_for_function("() => document.getElementById('list').getAttribute('aria-busy') === 'false'")
                found = page.evaluate(
                    "async () => (await axe.run()).violations.map(({ id, impact, nodes }) => [impact, id, nodes.length, nodes[0].html.slice(0, 200), nodes[0].failureSummary])"
                )
                serious = [violation for violation in found if violation[0] in ("serious", "critical")]
                assert not serious, (scheme, width, state, serious)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            watched.close("file://")
    print("page: axe finds nothing serious, in light and dark, at 390, 1024 and 1440 px, with a place open")


def check_hostile(browser, program, folder):
    """No hostile text runs, and none breaks the layout."""
    (folder / "Memories.md").write_text(worlds.hostile_world(10_000), encoding="utf-8")
    worlds.run(program, folder, "report", "-o", "world.html")
    for width in (360, 1280):
        watched = Watched(browser, width)
        page = watched.open((folder / "world.html").as_uri())
        count = page.evaluate("memoriesPage.app.world.data.parts.filter(({ k }) => k === 'memory').length")
        assert count > 9_900, count
        scopes = page.evaluate("memoriesPage.app.world.sections.map(({ scope }) => scope)")
        for scope in scopes if width == 360 else scopes[::10]:
            page.evaluate("scope => memoriesPage.app.choose(scope)", scope)
            wrong = page.evaluate(OUTSIDE, "#place")
            assert not wrong, (width, scope, wrong)
        for tab in ("important", "log", "rest", "places"):
            page.locator(f"#tab-{tab}").click()
            assert not page.evaluate(OUTSIDE, "#list"), (width, tab, page.evaluate(OUTSIDE, "#list"))
        page.locator("#question").fill("script")
        page.locator("#found .hit").first.wait_for()
        assert not page.evaluate(OUTSIDE, "#found")
        page.evaluate("memoriesPage.app.map.camera.centreOn([600, 400], 4)")
        page.mouse.move(width / 2, 400)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('body script').length") == 2, "a text has become a script"
        watched.close("file://")
    print(f"page: {count} hostile memories run nothing and break no box")


def check_speed(browser, program, folder):
    (folder / "Memories.md").write_text(worlds.large())
    worlds.record(program, folder, list(worlds.walk(1000)))
    worlds.run(program, folder, "report", "-o", "world.html")
    watched = Watched(browser)
    watched.page.add_init_script(
        "new PerformanceObserver((list) => { for (const entry of list.getEntries()) (globalThis.paints ||= []).push(entry.startTime); })"
        ".observe({ type: 'paint', buffered: true });"
    )
    page = watched.open((folder / "world.html").as_uri())
    page.wait_for_function("() => globalThis.paints?.length > 0")
    drawn = page.evaluate("performance.now()")
    paint = page.evaluate("Math.min(...globalThis.paints)")
    times = page.evaluate(DRAG)
    page.evaluate("memoriesPage.app.map.camera.centreOn([600, 240], 4)")
    near = page.evaluate(DRAG)
    rates = [1000 * len(each) / sum(each) for each in (times, near)]
    print(
        f"page: 1,000 places and 10,000 memories: first paint {paint:.0f} ms, all drawn {drawn:.0f} ms,"
        f" slider {rates[0]:.0f} frames/s, {rates[1]:.0f} near by"
    )
    assert paint < FIRST_PAINT and min(rates) >= FRAMES, (paint, rates)
    watched.close("file://")


@contextlib.contextmanager
def served(program, folder, *arguments, port=0):
    """A server; its origin, and the address that a person opens."""
    server = subprocess.Popen(
        [program, "serve", "--listen", f"127.0.0.1:{port}", "--json", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        answer = json.loads(server.stdout.readline())
        yield answer["listening"], answer["address"]
    finally:
        server.terminate()
        server.wait(timeout=20)


def check_live(browser, program, folder):
    """A turn that another process records is on the page soon after."""
    with served(program, folder) as (origin, address):
        watched = Watched(browser)
        page = watched.open(address)
        page.wait_for_function("() => document.getElementById('live').dataset.state === 'connected'")
        page.evaluate(
            "() => { globalThis.seen = {}; new MutationObserver(() => { const text = document.getElementById('step').textContent;"
            " const turn = /turn (\\d+)/.exec(text)?.[1]; globalThis.seen[turn] ||= Date.now(); })"
            ".observe(document.getElementById('step'), { childList: true, subtree: true }); }"
        )
        delays = []
        for turn in range(901, 906):
            line = json.dumps(
                {
                    "episode": 6,
                    "turn": turn,
                    "action": f"wave {turn}",
                    "response": "Nothing happens.",
                    "location_before": {"id": 75, "name": "Living Room"},
                    "location_after": {"id": 75, "name": "Living Room"},
                    "score_before": 0,
                    "score_after": 0,
                }
            )
            worlds.record(program, folder, [line])
            returned = time.time() * 1000
            page.wait_for_function("turn => globalThis.seen[turn]", arg=turn, timeout=5000)
            delays.append(page.evaluate("turn => globalThis.seen[turn]", turn) - returned)
            # A player thinks between its turns; meanwhile an unoptimised server counts its figures anew for most of a second.
            page.wait_for_timeout(2000)
        page.evaluate("memoriesPage.app.choose('location:75')")
        assert "wave 905" in page.locator("#place").inner_text()
        page.locator("#question").fill("where is the sword")
        page.locator("#found .hit").first.wait_for()
        words = page.locator("#found p").first.inner_text()
        assert re.match(r"\d+ hits? (was|were) found by meaning\. [A-Z][^.]*\.$", words), words
        page.locator("#question").press("Enter")
        page.locator("#place-name").wait_for()
        watched.close(origin)
    print(f"page: a recorded turn is there after {', '.join(f'{delay:.0f}' for delay in delays)} ms")
    assert max(delays) < LIVE, delays


def check_reconnect(browser, program, folder):
    """A page that has lost its server says so, and has what it missed when the server is back."""
    watched = Watched(browser)
    with served(program, folder) as (origin, address):
        page = watched.open(address)
        page.wait_for_function("() => document.getElementById('live').dataset.state === 'connected'")
    page.locator("#notice", has_text="is lost").wait_for()
    worlds.record(program, folder, [worlds.read_turns()[0].replace("open mailbox", "knock")])
    with served(program, folder, port=origin.rsplit(":", 1)[1].strip("/")):
        page.wait_for_function("() => memoriesPage.app.world.steps.at(-1).action === 'knock'")
        page.locator("#notice").wait_for(state="hidden")
        watched.problems = [problem for problem in watched.problems if "ERR_" not in problem]
        watched.close(origin)


def check_edit(browser, program, folder):
    """A person adds, rewords, strikes and undoes on the page; what was refused is said beside the form."""
    file = folder / "Memories.md"
    with served(program, folder, "--edit") as (origin, address):
        watched = Watched(browser)
        page = watched.open(address)
        page.evaluate("memoriesPage.app.choose('location:75')")
        page.get_by_role("button", name="Add a memory").click()
        page.get_by_label("Title").fill("The trophy case wants treasures")
        page.get_by_label("Text", exact=True).fill("Each treasure <b>in the case</b> scores.")
        page.get_by_role("button", name="Add", exact=True).click()
        page.locator("#place strong", has_text="The trophy case wants treasures").wait_for()
        assert "Each treasure" in file.read_text()

        card = page.locator("#place .memory:not(.old)", has_text="The trophy case wants treasures").first
        card.get_by_role("button", name="Reword").click()
        card.get_by_label("Title").fill("The trophy case scores")
        card.get_by_role("button", name="Reword", exact=True).click()
        page.locator("#place strong", has_text="The trophy case scores").wait_for()
        assert "The trophy case scores" in file.read_text()

        card = page.locator("#place .memory:not(.old)", has_text="The trophy case scores").first
        card.get_by_role("button", name="Strike").click()
        card.get_by_label("Reason").fill("it was a dream")
        card.get_by_role("button", name="Strike", exact=True).click()
        page.wait_for_function(
            "() => ![...document.querySelectorAll('#place .memory:not(.old) strong')].some((one) => one.textContent === 'The trophy case scores')"
        )
        before = file.read_text()
        page.get_by_role("button", name="Undo last change").click()
        page.locator("#place .memory:not(.old) strong", has_text="The trophy case scores").wait_for()
        assert file.read_text() != before

        page.get_by_role("button", name="Add a memory").click()
        page.get_by_label("Title").fill("The trophy case scores")
        page.get_by_role("button", name="Add", exact=True).click()
        page.locator("#place .tools .error").wait_for()
        refused = page.locator("#place .tools .error").inner_text()
        watched.problems = [problem for problem in watched.problems if "status of 4" not in problem]
        watched.close(origin)
    print(f"page: an edit is in the file; a refused one says: {' '.join(refused.split())}")


@contextlib.contextmanager
def listening_elsewhere():
    """A server of somebody else on another port of the same address; the cookies that it was sent."""
    sent = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", sent
    finally:
        server.shutdown()
        server.server_close()


def status_of(origin, path, headers, change=None):
    """The status of an answer, and its text."""
    body = None if change is None else json.dumps(change).encode()
    request = urllib.request.Request(origin + path, body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def check_other_port(browser, program, folder):
    """A browser sends the cookie to every port: who gets it there has no token and changes nothing; the page goes on."""
    file = folder / "Memories.md"
    change = {"do": "add", "scope": "world", "category": "NOTE", "title": "Stolen", "text": "by another user"}
    with served(program, folder, "--edit") as (origin, address), listening_elsewhere() as (other, sent):
        token = address.split("?token=")[1]
        watched = Watched(browser)
        page = watched.open(address)
        assert page.url == origin, "the token stays in the address bar"
        foreign = watched.context.new_page()
        foreign.goto(other)
        assert foreign.evaluate("sessionStorage.length") == 0
        cookie = next(cookie for cookie in sent if cookie)
        session = cookie.split("=", 1)[1]
        assert token not in cookie
        for path in ("", "data"):
            status, text = status_of(origin, path, {"Cookie": cookie})
            assert status == 200 and token not in text, path
            assert status_of(origin, path, {"X-Memories-Token": session})[0] == 401, path
        before = file.read_text()
        assert status_of(origin, "edit", {"Cookie": cookie}, change)[0] == 403
        assert status_of(origin, "edit", {"Cookie": cookie, "X-Memories-Token": session}, change)[0] == 401
        assert file.read_text() == before

        page.reload()
        page.wait_for_function("() => globalThis.memoriesPage?.app?.drawn !== undefined")
        page.evaluate("memoriesPage.app.choose('location:75')")
        page.get_by_role("button", name="Add a memory").click()
        page.get_by_label("Title").fill("The rug hides a trap door")
        page.get_by_role("button", name="Add", exact=True).click()
        page.locator("#place strong", has_text="The rug hides a trap door").wait_for()
        late = watched.context.new_page()
        late.goto(origin)
        late.wait_for_function("() => globalThis.memoriesPage?.app?.drawn !== undefined")
        late.evaluate("memoriesPage.app.choose('location:75')")
        assert late.get_by_role("button", name="Add a memory").count() == 0, "a tab without the token only reads"
        watched.close(origin)
    print(f"page: another port got {len(cookie)} characters of a cookie, and no token")


def take_screenshots(browser, folder, target):
    target.mkdir(parents=True, exist_ok=True)
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            watched = Watched(browser, width, height, color_scheme=scheme)
            page = watched.open((folder / "world.html").as_uri())
            page.wait_for_timeout(300)
            name = f"{width}x{height}-{scheme}"
            page.screenshot(path=target / f"{name}.png")
            page.evaluate("memoriesPage.app.choose('location:75')")
            page.wait_for_timeout(300)
            page.screenshot(path=target / f"{name}-whole.png", full_page=True)
            page.locator("#time-run").click()
            page.evaluate("memoriesPage.app.walk(30)")
            page.wait_for_timeout(300)
            page.screenshot(path=target / f"{name}-walk.png")
            if (width, scheme) == (1440, "light"):
                page.pdf(path=target / "paper.pdf", print_background=True)
            watched.close("file://")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    program = str(options.program.resolve())
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "the page is tried in Chromium: install `chromium`"
    root = pathlib.Path(tempfile.mkdtemp(prefix="memories-"))
    folders = {name: root / name for name in ("five", "copies", "hostile", "large", "huge", "shapes")}
    for folder in folders.values():
        folder.mkdir()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            five = folders["five"]
            check_report(browser, program, five, folders["copies"])
            check_keyboard(browser, five)
            check_first_views(browser, program, five, folders["shapes"])
            check_too_large(browser, program, folders["huge"])
            check_axe(browser, five, options.modules)
            if options.screenshots:
                take_screenshots(browser, five, options.screenshots)
            check_live(browser, program, five)
            check_reconnect(browser, program, five)
            check_edit(browser, program, five)
            check_other_port(browser, program, five)
            check_hostile(browser, program, folders["hostile"])
            check_speed(browser, program, folders["large"])
            browser.close()
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
