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
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import worlds
from playwright.sync_api import sync_playwright

SIZES = [(360, 800), (1280, 800), (1920, 1080)]
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
    page.locator("#found .hit:focus").wait_for()
    page.keyboard.press("Enter")
    assert page.locator("#place-name").inner_text() == "Living Room"
    assert "query" in page.locator("#found p").text_content()

    figures = page.locator(".figure .value").all_inner_texts()
    expected = [stats["total_memories"], stats["coverage"]["visited"], stats["recall_tokens"]["p50"]]
    assert figures == [str(number) for number in expected], (figures, expected)
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
        for width in (360, 1280):
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
    print("page: axe finds nothing serious, in light and dark, at 360 and 1280 px, with a place open")


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
        page.evaluate("memoriesPage.app.map.camera.centreOn([600, 400], 1)")
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
    page.evaluate("memoriesPage.app.map.camera.centreOn([1500, 1000], 0.7)")
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
            page.wait_for_timeout(500)
        page.evaluate("memoriesPage.app.choose('location:75')")
        assert "wave 905" in page.locator("#place").inner_text()
        page.locator("#question").fill("where is the sword")
        page.locator("#found .hit").first.wait_for()
        assert "meaning" in page.locator("#found p").inner_text()
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
            if (width, scheme) == (1280, "light"):
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
    folders = {name: root / name for name in ("five", "copies", "hostile", "large")}
    for folder in folders.values():
        folder.mkdir()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            five = folders["five"]
            check_report(browser, program, five, folders["copies"])
            check_keyboard(browser, five)
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
