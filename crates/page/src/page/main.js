// Begins the page: takes the data, makes the views, and moves all of them to one step.
(function (page) {
  "use strict";

  const { byId, element, data: text } = page;
  const THEMES = ["system", "light", "dark"];

  class App {
    constructor(data) {
      this.world = new page.World(data);
      this.explored = new page.Explored(this.world);
      this.step = this.world.last;
      // The number of an action of the best run on a walk along it.
      this.stop = null;
      this.chosen = null;
      this.live = null;
      this.time = new page.TimeBar(this);
      this.map = new page.MapView(this, byId("map"));
      this.panel = new page.Panel(this);
      this.lists = new page.Lists(this);
      this.search = new page.Search(this);
      this.edit = data.can_edit && page.token() ? new page.Edit(this) : null;
    }

    begin() {
      this.head();
      this.draw();
      this.lists.refresh();
      this.map.begin();
      this.listen();
      page.preparePaper(this);
      setTimeout(() => this.present(), 0);
    }

    // The page's head, and the numbers, which are of the present alone.
    head() {
      const { title, file, made } = this.world.data;
      byId("title").replaceChildren(text(title));
      byId("about").replaceChildren(text(file), made ? ` · ${page.moment(made)}` : "");
      page.showFigures(this);
    }

    present() {
      page.showCharts(this.world.data);
    }

    listen() {
      for (const [id, action] of [
        ["zoom-in", () => this.map.camera.zoom(1.3)],
        ["zoom-out", () => this.map.camera.zoom(1 / 1.3)],
        ["zoom-fit", () => this.map.whole()],
      ]) {
        byId(id).replaceChildren(page.icon(id));
        byId(id).addEventListener("click", action);
      }
      for (const input of document.querySelectorAll("input[name=colours]"))
        input.addEventListener("change", () => this.colours(input.value));
      byId("past-go").addEventListener("click", () => this.go(this.world.last));
      byId("time-run").addEventListener("click", () => this.walk(this.stop === null ? 0 : null));
      addEventListener("keydown", (event) => this.pressed(event));
      let waits = 0;
      let width = innerWidth;
      addEventListener("resize", () => {
        if (innerWidth === width) return;
        width = innerWidth;
        clearTimeout(waits);
        waits = setTimeout(() => {
          page.redrawCharts();
          this.time.drawMarks();
        }, 120);
      });
    }

    colours(mode) {
      this.map.setMode(mode);
      byId("legend").dataset.mode = mode;
    }

    pressed(event) {
      const typing = event.target.closest?.("input, textarea, select");
      if (event.key === "/" && !typing) {
        event.preventDefault();
        byId("question").focus();
      } else if (event.key === "Escape" && !typing && this.chosen !== null) this.close();
    }

    // Moves to a step. Many moves within one frame are drawn once.
    go(step) {
      this.step = Math.min(Math.max(step, 0), this.world.last);
      this.stop = null;
      this.drawSoon();
    }

    // Moves to an action of the best run, or ends the walk along it.
    walk(stop) {
      const { stops } = this.map.run;
      this.step = this.world.last;
      this.stop = stop === null || stops.length === 0 ? null : Math.min(Math.max(stop, 0), stops.length);
      this.drawSoon();
    }

    drawSoon() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }

    draw() {
      if (this.drawn !== this.step) this.map.show(this.step, this.explored.move(this.step));
      else if (this.walked !== this.stop) this.map.walk(this.step);
      Object.assign(this, { drawn: this.step, walked: this.stop });
      this.map.keys.settle(this.world.here[this.step]);
      this.time.show(this.step);
      this.panel.step();
      this.lists.step();
    }

    // Opens a section; `focus` moves the reader there.
    choose(scope, focus = false) {
      this.chosen = scope;
      this.panel.show(focus);
      requestAnimationFrame(() => this.map.choose(scope));
    }

    close() {
      const box = this.map.boxOf(this.chosen);
      const within = byId("place").contains(document.activeElement);
      this.chosen = null;
      this.map.choose(null);
      this.panel.show(false);
      if (within) (box ? box.group : byId("question")).focus({ preventScroll: true });
    }

    notice(words) {
      byId("notice").hidden = words === "";
      byId("notice-text").textContent = words;
    }

    // Takes other data whole, as after a lost connection.
    take(data) {
      const present = this.step === this.world.last;
      this.world = new page.World(data);
      this.took(data, present);
    }

    // Draws what a live change has brought; the page stays in the past if it was there.
    took(change, present) {
      let after = () => {};
      if (change.map || change.run) {
        if (change.map) this.explored = new page.Explored(this.world);
        else this.explored.attach(change.sections || []);
        after = this.map.again();
        this.stop = null;
      } else this.explored.attach(change.sections || []);
      this.step = present ? this.world.last : Math.min(this.step, this.world.last);
      this.drawn = undefined;
      this.time.extend();
      this.head();
      this.draw();
      after();
      this.panel.changed(false);
      clearTimeout(this.presentWaits);
      this.presentWaits = setTimeout(() => this.present(), 400);
    }
  }

  function theme() {
    let chosen = "system";
    try {
      chosen = localStorage.getItem("memories-theme") || chosen;
    } catch (error) {
      // A file may have no storage; then the choice lasts as long as the page.
    }
    const apply = (name) => {
      chosen = name;
      document.documentElement.dataset.theme = name;
      byId("theme").setAttribute("aria-label", `Colours: ${name}. Change`);
      byId("theme").title = `Colours: ${name}`;
      byId("theme").replaceChildren(page.icon(name));
    };
    apply(THEMES.includes(chosen) ? chosen : "system");
    byId("theme").addEventListener("click", () => {
      apply(THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length]);
      page.redrawCharts();
      try {
        localStorage.setItem("memories-theme", chosen);
      } catch (error) {
        // As above.
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.redrawCharts());
  }

  async function start() {
    theme();
    try {
      // A report has all of its data in the page; a served page has what it needs to ask for it.
      const block = JSON.parse(byId("data")?.textContent || "{}");
      const data = block.steps ? page.readWhole(block) : { ...block, ...(await page.fetchData()) };
      page.app = new App(data);
      page.app.begin();
      if (data.mode === "serve") page.app.live = new page.Live(page.app);
    } catch (error) {
      byId("notice").hidden = false;
      byId("notice-text").replaceChildren(element("span", { text: `The page cannot show its data: ${error.message}` }));
      throw error;
    }
  }

  // The parts of a section at a step, and its name; null where it is not there. For tests.
  page.sectionAt = function (scope, step) {
    const { world } = page.app;
    const facts = world.at(world.byScope.get(scope), step);
    return facts && { name: facts.name, parts: facts.parts.map((index) => world.data.parts[index]) };
  };

  start();
})((globalThis.memoriesPage ||= {}));
