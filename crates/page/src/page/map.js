// The map as an SVG picture: boxes, ways, names, stubs and badges of what is known at the step, and the best run. A unit
// of the drawing is a pixel of the screen while all of the map is in sight. Names and small signs are drawn only for
// places that are seen and large enough, so a map of a thousand places moves as quickly as a small one.
(function (page) {
  "use strict";

  const { byId, drawn, shapes } = page;
  const STEPS_NEW = [
    [10, 4],
    [50, 3],
  ];
  const STUB = 7;

  class MapView {
    constructor(app, holder) {
      this.app = app;
      this.mode = "danger";
      this.svg = drawn("svg", { role: "group", "aria-label": "Map of the places, north is up", class: "mode-danger" });
      this.layers = ["levels", "ways", "run", "places"].map((name) => drawn("g", { class: name }));
      this.details = drawn("g", { "aria-hidden": "true" });
      this.marker = drawn("circle", { class: "here", r: 6 });
      this.flag = drawn("path", { class: "start-flag", d: "M-1 0v-13l11 4l-9 4" });
      this.svg.append(...this.layers, this.details, this.flag, this.marker);
      holder.replaceChildren(this.svg);
      this.camera = new page.Camera(this.svg, () => this.schedule());
      this.camera.refit = () => this.refit();
      this.keys = new page.MapKeys(this);
      this.reset();
      this.svg.addEventListener("click", (event) => this.clicked(event));
    }

    // Draws the map anew: at first, and when live places have moved it.
    reset() {
      const { explored, world } = this.app;
      for (const layer of [...this.layers, this.details]) layer.replaceChildren();
      this.boxes = new Map();
      for (const way of explored.ways) this.makeWay(way);
      this.run = page.runOf(world.data.run);
      byId("legend").classList.toggle("with-run", this.run.legs.length > 0);
      for (const place of explored.places.values()) this.boxes.set(place.id, this.makeBox(place));
      for (const leg of this.run.legs) {
        leg.line = drawn("path", { class: "leg" });
        this.layers[2].append(leg.line);
      }
      this.arrange();
    }

    // Takes the layout in which names are read best on this screen, and puts all in its place.
    arrange() {
      const { explored, world } = this.app;
      const layouts = [world.data.map, world.data.narrow_map]
        .filter(Boolean)
        .map((map) => ({ map, grid: new shapes.Grid(map.places, this.camera.size) }));
      const best = layouts.reduce((one, other) => (other.grid.legible > one.grid.legible ? other : one));
      this.grid = best.grid;
      explored.lay(best.map);
      for (const way of explored.ways) {
        way.line.setAttribute("d", shapes.linePath(this.grid.line(way.points)));
        this.updateWay(way);
      }
      for (const box of this.boxes.values()) {
        [box.x, box.y] = this.grid.point([box.place.x, box.place.y]);
        box.group.setAttribute("transform", `translate(${box.x} ${box.y})`);
      }
      this.drawLevels(best.map.levels);
      for (const leg of this.run.legs) leg.line.setAttribute("d", this.legPath(leg));
      this.camera.take(this.grid);
      this.labelled = null;
    }

    // All of the map, where its boxes can be told apart then; else what is around the place where the game begins.
    begin() {
      const box = this.boxes.get(this.startId);
      if (this.grid.whole || !box) this.camera.fit();
      else this.camera.centreOn([box.x, box.y], 1);
      byId("map-note").hidden = this.grid.whole;
      byId("map-note").textContent = this.grid.whole
        ? ""
        : `${page.count(this.boxes.size, "place")} are too many for this screen: these are around the start.`;
      this.label();
    }

    // The size has changed while all of the map was in sight.
    refit() {
      this.arrange();
      this.camera.fit();
      this.label();
      this.updateHere(this.app.step);
    }

    // The place where the game begins: that of the best run, else of the first turn, else the first of the map.
    get startId() {
      const { steps } = this.app.world;
      const first = steps.find(({ from, to }) => from !== undefined || to !== undefined);
      const known = [this.run.beginsAt, first?.from, first?.to, this.boxes.keys().next().value];
      return known.find((id) => this.boxes.has(id));
    }

    // The layout or the best run is another one: what stood in the middle stays there. Gives what is to be done when the
    // places are drawn, for one that is hidden has no focus.
    again() {
      const { camera } = this;
      const { view, scale, cell, whole } = camera;
      const [x, y] = [view.x + view.width / 2, view.y + view.height / 2];
      const near = (box) => Math.hypot(box.x - x, box.y - y);
      const boxes = [...this.boxes.values()];
      const middle = boxes.length > 0 && boxes.reduce((one, other) => (near(other) < near(one) ? other : one));
      const focused = this.svg.contains(document.activeElement) ? this.keys.active : null;
      for (const place of this.app.explored.places.values()) place.version = -1;
      this.reset();
      this.keys.rove(this.keys.active);
      const box = middle && this.boxes.get(middle.place.id);
      if (whole || !box) camera.fit();
      else camera.centreOn([box.x, box.y], (scale * cell.width) / camera.cell.width);
      this.labelSoon();
      return () => {
        if (this.chosen) this.choose(this.app.chosen);
        if (focused !== null) this.boxes.get(focused)?.group.focus({ preventScroll: true });
      };
    }

    whole() {
      byId("map-note").hidden = true;
      this.camera.fit();
    }

    drawLevels(levels) {
      const areas = levels.length < 2 ? [] : levels.map((level) => this.grid.area(level));
      this.layers[0].replaceChildren(...areas.map((area) => drawn("rect", { ...area, rx: 10 })));
    }

    makeWay(way) {
      const { places } = this.app.explored;
      const between = places.get(way.from)?.level !== places.get(way.to)?.level;
      way.line = drawn("path", { class: between ? "way between" : "way", visibility: "hidden" });
      way.head = null;
      this.layers[1].append(way.line);
    }

    // A leg of the best run lies on the way that it takes; where none is known it goes straight.
    legPath({ from, to, line }) {
      const ways = this.app.explored.waysOf.get(from) || [];
      const way = ways.find((one) => one.from === to || one.to === to);
      line.classList.toggle("jump", !way);
      const ends = [from, to].map((id) => this.boxes.get(id)).map(({ x, y }) => [x, y]);
      return shapes.linePath(way ? this.grid.line(way.points) : ends);
    }

    makeBox(place) {
      const rect = drawn("rect");
      const title = drawn("title");
      const group = drawn(
        "g",
        {
          class: "place",
          id: `place-${place.id}`,
          role: "button",
          tabindex: -1,
          visibility: "hidden",
          "data-id": place.id,
        },
        title,
        rect,
      );
      this.layers[3].append(group);
      return { place, group, rect, title, x: 0, y: 0, text: "", label: null, detail: null, heat: null };
    }

    // Shows a step: what differs from the step before is drawn.
    show(step, { places, ways }) {
      this.noticeGame(step);
      for (const way of ways) this.updateWay(way);
      for (const place of places) this.updateBox(this.boxes.get(place.id), step);
      if (this.mode === "freshness") for (const box of this.boxes.values()) if (box.place.known) this.heat(box, step);
      this.updateHere(step);
      this.updateRun();
      this.schedule();
    }

    // Directions that the game does not understand are untried nowhere: another `## Game` changes all stubs.
    noticeGame(step) {
      const { world } = this.app;
      const game = world.at(world.byScope.get("game"), step);
      const refused = game ? [...game.refused].sort().join() : "";
      if (refused === this.gameRefused) return;
      this.gameRefused = refused;
      for (const box of this.boxes.values()) box.stale = true;
    }

    updateWay(way) {
      const { line, there, back, points } = way;
      line.setAttribute("visibility", there || back ? "visible" : "hidden");
      const oneWay = there !== back;
      if (oneWay && points.length > 1) {
        way.head ||= this.layers[1].appendChild(drawn("path", { class: "head" }));
        const box = this.boxes.get(there ? way.to : way.from);
        const half = box?.half || { width: 0, height: 0 };
        const [width, height] = [half.width / this.scale, half.height / this.scale];
        const line = shapes.clipped(this.grid.line(there ? points : [...points].reverse()), box, { width, height });
        way.head.setAttribute("d", shapes.arrowHead(line, Math.min(9 / this.scale, this.grid.cell.height / 3)));
      }
      way.head?.setAttribute("visibility", oneWay ? "visible" : "hidden");
    }

    updateBox(box, step) {
      const { place, group } = box;
      const { world } = this.app;
      group.setAttribute("visibility", place.known ? "visible" : "hidden");
      group.classList.toggle("unseen", !place.facts?.visits);
      box.stale = true;
      if (!place.known) return;
      group.setAttribute("aria-label", this.describe(place));
      this.heat(box, step);
      const name = place.facts ? world.name(place.section, place.facts) : world.scopeName(page.placeScope(place.id));
      const text = shapes.plainName(name);
      if (text === box.text) return;
      Object.assign(box, { text, label: null });
      box.title.textContent = shapes.cut(text, 200);
      this.labelSoon();
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

    // The player stands where the step has ended; on a walk along the best run, where its action is taken.
    updateHere(step) {
      const { app } = this;
      const box = this.boxes.get(app.stop === null ? app.world.here[step] : this.run.places[app.stop]);
      this.mark(this.marker, box, 1);
      this.mark(this.flag, this.boxes.get(this.startId), -1);
    }

    walk(step) {
      this.updateHere(step);
      this.updateRun();
      const box = this.boxes.get(this.run.places[this.app.stop]);
      if (box) this.camera.reveal([box.x, box.y]);
    }

    // Puts a sign at the upper right corner of a box, or at the left one.
    mark(sign, box, end) {
      sign.setAttribute("visibility", box?.place.known ? "visible" : "hidden");
      const { scale } = this;
      const half = box?.half || { width: 0, height: 0 };
      const [x, y] = [end * (half.width - 1), -half.height];
      if (box)
        sign.setAttribute("transform", `translate(${box.x + x / scale} ${box.y + y / scale}) scale(${1 / scale})`);
    }

    // The legs between places that are known at the step; on a walk, those behind the player stand out.
    updateRun() {
      const { stop } = this.app;
      this.svg.classList.toggle("walking", stop !== null);
      for (const { from, to, first, line } of this.run.legs) {
        const known = [from, to].every((id) => this.boxes.get(id).place.known);
        line.setAttribute("visibility", known ? "visible" : "hidden");
        line.classList.toggle("walked", stop !== null && first < stop);
      }
    }

    // Pixels of the screen for each unit of the drawing, as the names were placed.
    get scale() {
      return this.labelled || this.camera.scale;
    }

    schedule() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.drawDetails();
      });
    }

    labelSoon() {
      clearTimeout(this.labelWaits);
      this.labelWaits = setTimeout(() => this.label(), 80);
    }

    // Places all names for the scale of the camera, those first that a reader looks for first.
    label(scale = this.camera.scale) {
      clearTimeout(this.labelWaits);
      const { grid, camera, app } = this;
      const run = new Set(this.run.places);
      const first = [this.startId, this.boxOf(app.chosen)?.place.id, app.world.here[app.step]];
      const rank = ({ place }) =>
        (first.includes(place.id) ? 1000 - first.indexOf(place.id) : 0) +
        (run.has(place.id) ? 100 : 0) +
        (place.facts ? 20 * place.facts.danger + place.facts.targets.size : -50);
      const ranked = [...this.boxes.values()].map((box) => [rank(box), box]);
      const places = ranked.sort(([one], [other]) => other - one).map(([, box]) => box);
      this.labelled = scale;
      this.hasSigns = page.placeLabels(places, grid, scale, {
        bounds: camera.bounds(scale),
        marked: [this.boxes.get(this.startId), this.boxes.get(app.world.here[app.step])],
      });
      byId("legend").classList.toggle("with-signs", this.hasSigns);
      this.svg.classList.toggle("far", 2 * grid.box.height * scale < 14);
      for (const box of places) {
        const [width, height] = [box.half.width / scale, box.half.height / scale];
        const rx = Math.min(9 / scale, height * 0.4);
        for (const [name, value] of Object.entries({ x: -width, y: -height, width: 2 * width, height: 2 * height, rx }))
          box.rect.setAttribute(name, value);
        box.stale = true;
      }
      for (const way of app.explored.ways) if (way.head) this.updateWay(way);
      this.updateHere(app.step);
      this.schedule();
    }

    // For paper: all of the map, with all names; and back.
    print(begin) {
      this.camera.hold(begin ? this.camera.all : null);
      this.label(begin ? 1 : this.camera.scale);
      if (begin) for (const box of this.boxes.values()) if (box.place.known) this.drawDetail(box);
    }

    // Names, badges and stubs of the places that are seen.
    drawDetails() {
      const { view, scale, still } = this.camera;
      if (still || this.labelled === null) return;
      if (Math.abs(scale / this.labelled - 1) > 0.01) this.labelSoon();
      const { width, height } = this.grid.cell;
      for (const box of this.boxes.values()) {
        const seen =
          box.place.known &&
          box.x > view.x - width &&
          box.x < view.x + view.width + width &&
          box.y > view.y - height &&
          box.y < view.y + view.height + height;
        if (!seen) {
          box.detail?.remove();
          box.detail = null;
        } else if (box.stale || !box.detail) this.drawDetail(box);
      }
    }

    // Within it a unit is a pixel.
    drawDetail(box) {
      const { place } = box;
      const facts = this.app.explored.factsOf(place);
      const detail = drawn("g", {
        class: place.facts?.visits ? "detail" : "detail unseen",
        transform: `translate(${box.x} ${box.y}) scale(${1 / this.scale})`,
      });
      if (box.label) this.drawName(detail, box.label);
      if (this.hasSigns && place.facts) this.drawSigns(detail, facts, box.half);
      if (this.hasSigns && facts.vain > 0) this.drawBadge(detail, facts.vain, box.half);
      box.detail?.remove();
      this.details.append(detail);
      Object.assign(box, { detail, stale: false });
    }

    drawName(detail, { lines, font, dx, dy, rect }) {
      const text = drawn("text", { "font-size": font, class: rect ? "name beside" : "name" });
      lines.forEach((line, index) => {
        const y = dy + (index - (lines.length - 1) / 2) * font * page.LEADING + font * 0.35;
        text.append(drawn("tspan", { x: dx, y, text: line }));
      });
      detail.append(text);
    }

    // Stubs of refused and untried directions; triangles for up and down; a mark of danger.
    drawSigns(detail, facts, half) {
      const { world, step } = this.app;
      const untried = facts.visits > 0 ? world.untried(facts, step) : [];
      const paths = { refused: "", untried: "" };
      for (const direction of facts.refused)
        if (page.COMPASS[direction] && !facts.gone.has(direction))
          paths.refused += shapes.stub(half, direction, STUB, true);
      for (const direction of untried)
        if (page.COMPASS[direction]) paths.untried += shapes.stub(half, direction, STUB, false);
      for (const [name, d] of Object.entries(paths)) if (d) detail.append(drawn("path", { class: `stub ${name}`, d }));
      for (const [direction, sign] of [
        ["up", -1],
        ["down", 1],
      ]) {
        const state = facts.gone.has(direction) ? "gone" : untried.includes(direction) ? "untried" : null;
        if (!state) continue;
        const [x, y] = [-half.width + 9, sign * (half.height - 8)];
        detail.append(drawn("path", { class: `level ${state}`, d: `M${x - 5} ${y - sign * 4}h10l-5 ${sign * 8}z` }));
      }
      if (facts.danger > 0) {
        detail.append(
          drawn("text", {
            class: "danger-mark",
            x: half.width - 14,
            y: -half.height + 13,
            "font-size": 13,
            text: facts.danger > 1 ? "‼" : "!",
          }),
        );
      }
    }

    drawBadge(detail, vain, half) {
      const text = vain > 999 ? "999+" : String(vain);
      const width = 9 + 7 * text.length;
      const [x, y] = [half.width - width + 4, half.height - 10];
      detail.append(
        drawn("rect", { class: "badge", x, y, width, height: 16, rx: 8 }),
        drawn("text", { class: "badge-text", x: x + width / 2, y: y + 12, "font-size": 11, text }),
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
      if (!box.label) this.labelSoon();
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
