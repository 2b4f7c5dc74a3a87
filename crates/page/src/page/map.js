// The map as an SVG picture: boxes, ways, stubs and badges of what is known at the step. Names and small signs are drawn
// only for places that are seen and large enough, so a map of a thousand places moves as quickly as a small one.
(function (page) {
  "use strict";

  const { drawn, shapes } = page;
  const { CELL, HALF } = shapes;
  const FONTS = [13, 15, 17, 19, 22, 25];
  const SMALLEST_TEXT = 6;
  const STEPS_NEW = [
    [10, 4],
    [50, 3],
  ];

  class MapView {
    constructor(app, holder) {
      this.app = app;
      this.mode = "danger";
      this.svg = drawn("svg", { role: "group", "aria-label": "Map of the places, north is up", class: "mode-danger" });
      this.layers = ["levels", "ways", "places"].map((name) => drawn("g", { class: name }));
      this.details = drawn("g", { "aria-hidden": "true" });
      this.marker = drawn("circle", { class: "here", r: 7 });
      this.svg.append(...this.layers, this.details, this.marker);
      holder.replaceChildren(this.svg);
      this.camera = new page.Camera(this.svg, () => this.schedule());
      this.keys = new page.MapKeys(this);
      this.reset();
      this.svg.addEventListener("click", (event) => this.clicked(event));
    }

    // Draws the layout anew: at first, and when live places have moved it.
    reset() {
      const { explored } = this.app;
      for (const layer of [...this.layers, this.details]) layer.replaceChildren();
      this.boxes = new Map();
      for (const way of explored.ways) this.makeWay(way);
      for (const place of explored.places.values()) this.boxes.set(place.id, this.makeBox(place));
      this.drawLevels();
      this.camera.all = shapes.extent(explored.places.values());
    }

    drawLevels() {
      const { levels } = this.app.world.data.map;
      if (levels.length < 2) return;
      for (const { x, y, width, height } of levels) {
        this.layers[0].append(
          drawn("rect", {
            x: (x - 0.5) * CELL.width,
            y: (y - 0.5) * CELL.height,
            width: width * CELL.width,
            height: height * CELL.height,
            rx: 18,
          }),
        );
      }
    }

    // Rectangles of the levels, the one with most places first.
    levelAreas() {
      const levels = new Map();
      for (const place of this.app.explored.places.values()) {
        if (!levels.has(place.level)) levels.set(place.level, []);
        levels.get(place.level).push(place);
      }
      return [...levels.values()]
        .sort((one, other) => other.length - one.length)
        .slice(0, 1)
        .map(shapes.extent);
    }

    makeWay(way) {
      const { places } = this.app.explored;
      const between = places.get(way.from)?.level !== places.get(way.to)?.level;
      way.line = drawn("path", {
        class: between ? "way between" : "way",
        d: shapes.linePath(way.points),
        visibility: "hidden",
      });
      this.layers[1].append(way.line);
    }

    makeBox(place) {
      const [x, y] = shapes.centre(place);
      const rect = drawn("rect", {
        x: -HALF.width,
        y: -HALF.height,
        width: 2 * HALF.width,
        height: 2 * HALF.height,
        rx: 9,
      });
      const title = drawn("title");
      const group = drawn(
        "g",
        {
          class: "place",
          id: `place-${place.id}`,
          role: "button",
          tabindex: -1,
          transform: `translate(${x} ${y})`,
          visibility: "hidden",
          "data-id": place.id,
        },
        title,
        rect,
      );
      this.layers[2].append(group);
      return { place, group, title, x, y, detail: null, heat: null, font: 0 };
    }

    // Shows a step: what differs from the step before is drawn.
    show(step, { places, ways }) {
      this.noticeGame(step);
      for (const way of ways) this.updateWay(way);
      for (const place of places) this.updateBox(this.boxes.get(place.id), step);
      if (this.mode === "freshness") for (const box of this.boxes.values()) if (box.place.known) this.heat(box, step);
      this.updateHere(step);
      this.schedule();
    }

    // Directions that the game does not understand are untried nowhere: another `## Game` changes all stubs.
    noticeGame(step) {
      const { world } = this.app;
      const game = world.at(world.byScope.get("game"), step);
      const refused = game ? [...game.refused].sort().join() : "";
      if (refused === this.gameRefused) return;
      this.gameRefused = refused;
      for (const box of this.boxes.values()) box.font = 0;
    }

    updateWay(way) {
      const { line, there, back, points } = way;
      line.setAttribute("visibility", there || back ? "visible" : "hidden");
      const oneWay = there !== back;
      if (oneWay && points.length > 1) {
        way.head ||= this.layers[1].appendChild(drawn("path", { class: "head" }));
        way.head.setAttribute("d", shapes.arrowHead(there ? points : [...points].reverse()));
      }
      way.head?.setAttribute("visibility", oneWay ? "visible" : "hidden");
    }

    updateBox(box, step) {
      const { place, group } = box;
      group.setAttribute("visibility", place.known ? "visible" : "hidden");
      group.classList.toggle("unseen", !place.facts?.visits);
      box.font = 0;
      if (!place.known) return;
      group.setAttribute("aria-label", this.describe(place));
      this.heat(box, step);
    }

    describe(place) {
      const { world } = this.app;
      const facts = this.app.explored.factsOf(place);
      if (!place.facts) return `${world.scopeName(page.placeScope(place.id))}, never visited`;
      const danger = ["", ", dangerous", ", deadly"][facts.danger];
      const vain = facts.vain > 0 ? `, ${page.count(facts.vain, "try", "tries")} in vain` : "";
      return `${world.name(place.section, facts)}, ${page.count(facts.live, "memory", "memories")}${danger}${vain}`;
    }

    heat(box, step) {
      const heat = box.place.facts ? this.heatOf(box.place.facts, step) : "none";
      if (heat === box.heat) return;
      box.heat = heat;
      box.group.setAttribute("data-heat", heat);
    }

    heatOf(facts, step) {
      if (this.mode === "danger") return facts.danger;
      if (this.mode === "number") return facts.live === 0 ? 0 : Math.min(4, Math.ceil(Math.log2(facts.live + 1)));
      const found = STEPS_NEW.find(([steps]) => step - facts.since < steps);
      if (found) return found[1];
      const { episodeStart } = this.app.world;
      const episode = episodeStart[step];
      if (facts.since >= episode) return 2;
      return facts.since >= (episodeStart[Math.max(0, episode - 1)] ?? 0) ? 1 : 0;
    }

    setMode(mode) {
      this.svg.classList.replace(`mode-${this.mode}`, `mode-${mode}`);
      this.mode = mode;
      for (const box of this.boxes.values()) if (box.place.known) this.heat(box, this.app.step);
    }

    updateHere(step) {
      const box = this.boxes.get(this.app.world.here[step]);
      this.marker.setAttribute("visibility", box?.place.known ? "visible" : "hidden");
      if (box) this.marker.setAttribute("transform", `translate(${box.x} ${box.y + HALF.height})`);
    }

    schedule() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.drawDetails();
      });
    }

    // For paper: all of the map, with all names; and back.
    print(begin) {
      this.camera.hold(begin ? this.camera.all : null);
      if (begin) for (const box of this.boxes.values()) if (box.place.known) this.drawDetail(box, 20);
    }

    // Names, badges and stubs of the places that are seen; none when they would be too small to read.
    drawDetails() {
      const { view, scale, still } = this.camera;
      if (still) return;
      const font = FONTS.find((size) => size * scale >= 9) || FONTS.at(-1);
      const readable = font * scale >= SMALLEST_TEXT;
      this.svg.classList.toggle("far", scale < 0.3);
      for (const box of this.boxes.values()) {
        const seen =
          readable &&
          box.place.known &&
          box.x > view.x - CELL.width &&
          box.x < view.x + view.width + CELL.width &&
          box.y > view.y - CELL.height &&
          box.y < view.y + view.height + CELL.height;
        if (!seen) {
          box.detail?.remove();
          box.detail = null;
          box.font = 0;
        } else if (box.font !== font) this.drawDetail(box, font);
      }
    }

    drawDetail(box, font) {
      const { place } = box;
      const facts = this.app.explored.factsOf(place);
      const detail = drawn("g", {
        class: place.facts?.visits ? "detail" : "detail unseen",
        transform: `translate(${box.x} ${box.y})`,
      });
      this.drawName(detail, box, font);
      if (place.facts) this.drawSigns(detail, facts);
      if (facts.vain > 0) this.drawBadge(detail, facts.vain);
      box.detail?.remove();
      this.details.append(detail);
      Object.assign(box, { detail, font });
    }

    drawName(detail, box, font) {
      const { place } = box;
      const name = place.facts
        ? this.app.world.name(place.section, place.facts)
        : this.app.world.scopeName(page.placeScope(place.id));
      const width = (2 * HALF.width - 8) / font;
      const lines = shapes.wrap(name, width, Math.floor((2 * HALF.height - 4) / (font * 1.1)));
      const text = drawn("text", { "font-size": font, class: "name" });
      lines.forEach((line, index) => {
        const y = (index - (lines.length - 1) / 2) * font * 1.08 + font * 0.35;
        text.append(drawn("tspan", { x: 0, y, text: line }));
      });
      detail.append(text);
      box.title.textContent = shapes.cut(shapes.plainName(name), 200);
    }

    // Stubs of refused and untried directions; triangles for up and down; a mark of danger.
    drawSigns(detail, facts) {
      const { world, step } = this.app;
      const untried = facts.visits > 0 ? world.untried(facts, step) : [];
      const paths = { refused: "", untried: "" };
      for (const direction of facts.refused)
        if (page.COMPASS[direction] && !facts.gone.has(direction)) paths.refused += shapes.stub(direction, true);
      for (const direction of untried) if (page.COMPASS[direction]) paths.untried += shapes.stub(direction, false);
      for (const [name, d] of Object.entries(paths)) if (d) detail.append(drawn("path", { class: `stub ${name}`, d }));
      for (const [direction, sign] of [
        ["up", -1],
        ["down", 1],
      ]) {
        const state = facts.gone.has(direction) ? "gone" : untried.includes(direction) ? "untried" : null;
        if (!state) continue;
        const [x, y] = [-HALF.width + 10, sign * (HALF.height - 10)];
        detail.append(drawn("path", { class: `level ${state}`, d: `M${x - 5} ${y - sign * 4}h10l-5 ${sign * 8}z` }));
      }
      if (facts.danger > 0) {
        detail.append(
          drawn("text", {
            class: "danger-mark",
            x: HALF.width - 8,
            y: -HALF.height + 17,
            "font-size": 15,
            text: facts.danger > 1 ? "‼" : "!",
          }),
        );
      }
    }

    drawBadge(detail, vain) {
      const text = vain > 999 ? "999+" : String(vain);
      const width = 12 + 7.5 * text.length;
      const [x, y] = [HALF.width - width + 7, HALF.height - 11];
      detail.append(
        drawn("rect", { class: "badge", x, y, width, height: 19, rx: 9.5 }),
        drawn("text", { class: "badge-text", x: x + width / 2, y: y + 14, "font-size": 12.5, text }),
      );
    }

    clicked(event) {
      if (this.camera.dragged) return;
      const group = event.target.closest(".place");
      if (group) this.app.choose(page.placeScope(group.dataset.id));
    }

    // Marks the chosen place and brings it into view.
    choose(scope) {
      this.chosen?.classList.remove("chosen");
      const box = this.boxOf(scope);
      this.chosen = box?.group;
      if (!box) return;
      box.group.classList.add("chosen");
      this.keys.rove(box.place.id);
      this.camera.resized();
      this.camera.reveal([box.x, box.y]);
    }

    boxOf(scope) {
      return scope?.startsWith("location:") ? this.boxes.get(Number(scope.slice("location:".length))) : undefined;
    }

    // Lights up places that a live step has changed.
    light(ids) {
      for (const id of ids) {
        const group = this.boxes.get(id)?.group;
        if (!group) continue;
        group.classList.remove("lit");
        group.getBoundingClientRect();
        group.classList.add("lit");
        setTimeout(() => group.classList.remove("lit"), 2600);
      }
    }
  }

  page.MapView = MapView;
})((globalThis.memoriesPage ||= {}));
