// Lists of the world at the step, as tabs: what matters, what changed and why, what is tentative, characters, dialogue,
// the rest of the file, all places, and problems.
(function (page) {
  "use strict";

  const { byId, element, data, number, count } = page;

  function where(app, scope) {
    return page.link(app.world.nameOf(scope, app.step), () => app.choose(scope, true));
  }

  function empty(text) {
    return element("p", { class: "soft", text });
  }

  function cards(app, rows, none) {
    if (rows.length === 0) return empty(none);
    return page.longList(rows, ({ scope, part }) => page.render.memory(part, { where: where(app, scope) }), 40);
  }

  function* standingMemories(app) {
    for (const { section, facts } of app.world.standing(app.step)) {
      for (const part of facts.memories) if (part.status !== "superseded") yield { scope: section.scope, part };
    }
  }

  // The present's list is that of `top`; at a past step it is by importance alone.
  function important(app) {
    const { world } = app;
    if (app.step === world.last) {
      const rows = world.data.top
        .map(({ scope, title }) => {
          const part = world.at(world.byScope.get(scope), app.step)?.memories.find(
            (memory) => memory.title === title && memory.status !== "superseded",
          );
          return part && { scope, part };
        })
        .filter(Boolean);
      return cards(app, rows, "No memories yet.");
    }
    const rows = [...standingMemories(app)]
      .sort((one, other) => other.part.importance - one.part.importance)
      .slice(0, 20);
    return element(
      "div",
      {},
      element("p", { class: "soft", text: "By importance, at this step." }),
      cards(app, rows, "No memories at this step."),
    );
  }

  function tentative(app) {
    const rows = [...standingMemories(app)].filter(({ part }) => part.status === "tentative");
    return cards(app, rows, "Nothing is tentative at this step.");
  }

  function logRow(app, index) {
    const step = app.world.steps[index];
    const when = app.time.when(index) || step.kind;
    return element(
      "article",
      { class: "log" },
      element(
        "p",
        {},
        page.link(when, () => app.go(index), `Go to ${when}`),
        " ",
        step.action ? element("code", {}, data(step.action)) : "",
        step.command && !step.action ? element("code", {}, data(step.command)) : "",
        " ",
        step.outcome ? page.render.tag(step.outcome.replaceAll("_", " ")) : "",
        step.repeat ? page.render.tag("repeated in vain", "warn") : "",
        step.died ? page.render.tag("died", "bad") : "",
      ),
      (step.memories || []).map((memory) =>
        element(
          "p",
          { class: "log-memory" },
          element("span", { class: "soft", text: `${memory.outcome} ` }),
          element("strong", {}, data(memory.title)),
          element("span", { class: "soft", text: " in " }),
          where(app, memory.scope),
        ),
      ),
      step.reason ? element("p", { class: "soft" }, "Why: ", data(step.reason)) : "",
    );
  }

  function log(app) {
    const { steps } = app.world;
    const all = byId("log-all")?.checked || false;
    const indices = [];
    for (let index = app.step; index >= 0; index -= 1) {
      const step = steps[index];
      if (step.kind !== "start" && (all || step.memories?.length || step.kind !== "turn")) indices.push(index);
    }
    const box = element("input", { type: "checkbox", id: "log-all" });
    box.checked = all;
    box.addEventListener("change", () => {
      app.lists.refresh();
      byId("log-all").focus();
    });
    return element(
      "div",
      {},
      element("label", { class: "check", for: "log-all" }, box, " also turns that left no memory"),
      indices.length > 0
        ? page.longList(indices, (index) => logRow(app, index), 40)
        : empty("Nothing has changed up to this step."),
    );
  }

  // Knowledge of a character, by its subject, as the tags `about:ID` say.
  function knowledge(app, section, facts) {
    const groups = new Map();
    for (const part of facts.memories) {
      const subjects = (part.tags || [])
        .filter((tag) => tag.startsWith("about:"))
        .map((tag) => tag.slice("about:".length));
      for (const subject of subjects.length > 0 ? subjects : [""]) {
        if (!groups.has(subject)) groups.set(subject, []);
        groups.get(subject).push(part);
      }
    }
    const blocks = [...groups]
      .sort(([one], [other]) => (one === "" ? 1 : 0) - (other === "" ? 1 : 0))
      .map(([subject, parts]) => [
        element("h4", {}, subject === "" ? "Knows" : ["Knows of ", data(characterName(app, subject))]),
        parts.map((part) => page.render.memory(part)),
      ]);
    return element(
      "article",
      { class: "character" },
      element(
        "h3",
        {},
        page.link(app.world.name(section, facts), () => app.choose(section.scope, true)),
      ),
      blocks,
    );
  }

  function characterName(app, id) {
    const found = app.world.sections.find(
      ({ scope, kind }) => (kind === "npc" || kind === "agent") && (scope === id || scope.endsWith(`:${id}`)),
    );
    return found ? app.world.nameOf(found.scope, app.step) : id;
  }

  function characters(app) {
    const rows = [...app.world.standing(app.step, "npc", "agent")];
    if (rows.length === 0) return empty("No characters are known at this step.");
    return page.longList(rows, ({ section, facts }) => knowledge(app, section, facts), 30);
  }

  function whole(...kinds) {
    return (app) => {
      const rows = [...app.world.standing(app.step, ...kinds)];
      if (rows.length === 0) return empty("Nothing at this step.");
      return page.longList(
        rows,
        ({ section, facts }) =>
          element(
            "article",
            {},
            element(
              "h3",
              {},
              page.link(app.world.name(section, facts), () => app.choose(section.scope, true)),
            ),
            page.render.section(app, facts),
          ),
        20,
      );
    };
  }

  function places(app) {
    const rows = [...app.world.standing(app.step, "location")].sort((one, other) =>
      one.facts.name.localeCompare(other.facts.name),
    );
    if (rows.length === 0) return empty("No places are known at this step.");
    return page.longList(
      rows,
      ({ section, facts }) =>
        element(
          "p",
          { class: "place-row" },
          where(app, section.scope),
          element("span", {
            class: "soft",
            text: ` id ${section.id} · ${count(facts.live, "memory", "memories")} · ${count(facts.vain, "try", "tries")} in vain`,
          }),
          facts.danger > 0 ? [" ", page.render.tag(facts.danger > 1 ? "deadly" : "dangerous", "bad")] : "",
        ),
      60,
    );
  }

  function problems(app) {
    const list = app.world.data.check;
    const rows = list.map((problem) =>
      element(
        "li",
        {},
        element("strong", { text: `Line ${problem.line}${problem.column ? `, column ${problem.column}` : ""}: ` }),
        data(problem.message),
        problem.hint ? element("span", { class: "hint" }, "Hint: ", data(problem.hint)) : "",
      ),
    );
    return element(
      "div",
      {},
      element("p", { class: "soft", text: "Found by check in the present file." }),
      rows.length > 0 ? element("ul", { class: "rows" }, rows) : element("p", { text: "No problems." }),
    );
  }

  const TABS = [
    ["important", "Important", important],
    ["log", "Changes", log],
    ["tentative", "Tentative", tentative],
    ["characters", "Characters", characters],
    ["dialogue", "Dialogue", whole("dialogue", "scene")],
    ["rest", "World", whole("world", "game", "folder", "topic")],
    ["places", "Places", places],
    ["problems", "Problems", problems],
  ];

  class Lists {
    constructor(app) {
      this.app = app;
      this.chosen = "important";
      this.tabs = TABS.map(([key, name]) =>
        element("button", {
          type: "button",
          role: "tab",
          id: `tab-${key}`,
          "aria-controls": "list",
          tabindex: -1,
          text: name,
          on: { click: () => this.choose(key) },
        }),
      );
      byId("tabs").replaceChildren(...this.tabs);
      byId("tabs").addEventListener("keydown", (event) => this.pressed(event));
      this.mark();
    }

    choose(key) {
      this.chosen = key;
      this.mark();
      this.refresh();
    }

    mark() {
      for (const tab of this.tabs) {
        const chosen = tab.id === `tab-${this.chosen}`;
        tab.setAttribute("aria-selected", String(chosen));
        tab.tabIndex = chosen ? 0 : -1;
      }
      byId("list").setAttribute("aria-labelledby", `tab-${this.chosen}`);
    }

    pressed(event) {
      const at = this.tabs.findIndex((tab) => tab.id === `tab-${this.chosen}`);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const tab = this.tabs[(to + this.tabs.length) % this.tabs.length];
      this.choose(tab.id.slice("tab-".length));
      tab.focus();
    }

    // Draws the list when the slider has come to rest; until then it is marked as busy.
    step() {
      byId("list").setAttribute("aria-busy", "true");
      clearTimeout(this.waits);
      this.waits = setTimeout(() => this.refresh(), 120);
    }

    refresh() {
      clearTimeout(this.waits);
      const [, , render] = TABS.find(([key]) => key === this.chosen);
      byId("list").replaceChildren(render(this.app));
      byId("list").setAttribute("aria-busy", "false");
      const last = this.app.step === this.app.world.last;
      byId("lists-words").textContent = last
        ? "As the file is now."
        : `As of ${this.app.time.when(this.app.step) || `step ${number(this.app.step)}`}.`;
    }
  }

  page.Lists = Lists;
})((globalThis.memoriesPage ||= {}));
