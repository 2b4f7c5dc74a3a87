"""Drawings of the map as other programs read them: Graphviz, Mermaid's parser, an XML parser and a browser.

Usage: drawings.py MODULES PROGRAM, both as paths: the folder of the npm packages, and the program. The map is that
of `fixtures/worlds/hostile_names`, whose names hold whatever might break a drawing.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
FILES = [HERE.parents[1] / "fixtures" / "worlds" / world for world in ("hostile_names", "mill")]


def draw(program, folder, form):
    command = [program, "map", "--format", form]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def labels(places):
    """The labels that drawings must show, by id."""
    names = [place["name"].lower() for place in places]
    shown = {}
    for place in places:
        name, id = place["name"], place["id"]
        label = f"{name} (id {id})" if names.count(name.lower()) > 1 else name
        shown[id] = label if name else f"location:{id}"
    return shown


def read_svg(svg):
    """What Graphviz has drawn, as `drawings.mjs` gives what Mermaid reads."""
    space = {"": "http://www.w3.org/2000/svg"}
    places, lines = {}, []
    for group in xml.fromstring(svg.encode()).iterfind(".//g[@class]", space):
        title = group.findtext("title", namespaces=space)
        label = " ".join(text.text for text in group.iterfind("text", space))
        if group.get("class") == "node":
            places[title] = label
        elif group.get("class") == "edge":
            lines.append([*title.split("->"), label])
    return {"places": places, "lines": lines}


def check_lines(form, lines, ways):
    """Each way is drawn once, alone or with the way back, and nothing else is drawn."""
    left = [(way["from"]["id"], way["to"]["id"], way["action"]) for way in ways]
    for start, end, text in lines:
        there = [way for way in left if way[:2] == (start, end) and text.startswith(way[2])]
        assert there, f"{form} draws {start} {end} {text!r}, of {left}"
        way = max(there, key=lambda way: len(way[2]))
        left.remove(way)
        back = text[len(way[2]) :].removeprefix(" / ")
        if back != text[len(way[2]) :]:
            left.remove((end, start, back))
    assert not left, f"{form} leaves out {left}"


def check_picture(svg, shown, ways):
    """Each place is there with its whole name, each way is told in the title of one line, and nothing is loaded."""
    space = {"": "http://www.w3.org/2000/svg"}
    root = xml.fromstring(svg.encode())
    assert root.tag.endswith("}svg"), root.tag
    assert not {"script", "image", "use", "a", "foreignObject"} & {element.tag.split("}")[1] for element in root.iter()}
    assert "url(" not in svg.replace("url(#inside)", "") and "@import" not in svg
    titles = {group.get("id"): group.findtext("title", namespaces=space) for group in root.iterfind("g[@id]", space)}
    assert titles.keys() == {f"place-{id}" for id in shown}, titles.keys()
    for id, label in shown.items():
        title = titles[f"place-{id}"]
        assert title.split(". ")[0] == label or title.startswith(f"{label}. "), f"{title!r} is not {label!r}"
    groups = [group for group in root.iterfind("g[@class]", space) if group.get("class").split()[0] == "way"]
    told = [group.findtext("title", namespaces=space) for group in groups]
    pairs = {frozenset((way["from"]["id"], way["to"]["id"])) for way in ways}
    assert len(told) == len(pairs), f"{len(told)} lines for {len(pairs)} pairs of places"
    for way in ways:
        start = f"{shown[way['from']['id']]} → {shown[way['to']['id']]}: "
        assert any(start in title and way["action"] in title for title in told), f"{start}{way['action']} is not told"


def check_browser(browser, svg, folder):
    """In a browser no name leaves its box, and no box meets another."""
    script = """
      const boxes = [...document.querySelectorAll('.place')].map((place) => {
        const box = place.querySelector('rect').getBoundingClientRect();
        for (const text of place.querySelectorAll('text')) {
          const name = text.getBoundingClientRect();
          if (name.left < box.left || name.right > box.right || name.top < box.top || name.bottom > box.bottom)
            throw new Error(`${text.textContent} leaves its box`);
        }
        return box;
      });
      const meets = (one, other) => one.left < other.right && other.left < one.right
        && one.top < other.bottom && other.top < one.bottom;
      if (boxes.some((one, at) => boxes.slice(0, at).some((other) => meets(one, other)))) throw new Error('boxes meet');
      return `${boxes.length} boxes`;
    """
    page = folder / "map.html"
    answer = f"<output id=answer></output><script>answer.textContent = (() => {{ try {{ return (() => {{{script}}})() }}"
    page.write_text(f"<!doctype html><meta charset=utf-8>{svg}{answer} catch (e) {{ return e.message }} }})()</script>")
    command = [browser, "--headless", "--no-sandbox", f"--user-data-dir={folder}/profile", "--dump-dom", page.as_uri()]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    answer = shown.split("<output id=\"answer\">")[1].split("</output>")[0]
    assert answer == f"{svg.count('<g id=')} boxes", answer


def check(modules, program, before):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memories-"))
    try:
        shutil.copy(before / "Memories.md", folder)
        world = json.loads(draw(program, folder, "json"))
        shown, ways = labels(world["places"]), world["ways"]
        drawings = {form: draw(program, folder, form) for form in ("dot", "mermaid")} | {"modules": modules}
        read = subprocess.run(
            ["node", HERE / "drawings.mjs"], input=json.dumps(drawings), check=True, stdout=subprocess.PIPE, text=True
        )
        read = json.loads(read.stdout)
        for form, drawing in {"Graphviz": read_svg(read["dot"]), "Mermaid": read["mermaid"]}.items():
            places = {int(node.removeprefix("p")): label for node, label in drawing["places"].items()}
            assert places == shown, f"{form} shows {places}, not {shown}"
            lines = [(int(start[1:]), int(end[1:]), text) for start, end, text in drawing["lines"]]
            check_lines(form, lines, ways)
        picture = draw(program, folder, "svg")
        check_picture(picture, shown, ways)
        if browser := shutil.which("chromium"):
            check_browser(browser, picture, folder)
        return len(shown), len(ways)
    finally:
        shutil.rmtree(folder)


def main(modules, program):
    counts = [check(modules, program, before) for before in FILES]
    places, ways = (sum(numbers) for numbers in zip(*counts))
    readers = "Graphviz, Mermaid, an XML parser" + (" and Chromium" if shutil.which("chromium") else "; no Chromium here")
    print(f"drawings: {places} places, {ways} ways, read by {readers}")


main(*sys.argv[1:])
