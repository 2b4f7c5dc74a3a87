// A section in readable form: memories, ways, what worked, what was tried in vain, notes. For the panel of a place, for
// lists, and for paper.
(function (page) {
  "use strict";

  const { element, data, count } = page;
  const ARROWS = {
    north: "↑",
    northeast: "↗",
    east: "→",
    southeast: "↘",
    south: "↓",
    southwest: "↙",
    west: "←",
    northwest: "↖",
    up: "⤒",
    down: "⤓",
    in: "⇥",
    out: "⇤",
  };

  function heading(text, note) {
    return element("h4", { text }, note ? element("span", { class: "soft", text: ` ${note}` }) : "");
  }

  function tag(text, kind = "") {
    return element("span", { class: `tag ${kind}` }, data(text));
  }

  // A memory as a card. `tools` are buttons that an editing page has; `where` names its section in lists.
  function memory(part, { where, tools } = {}) {
    const { category, status, persistence, title, text, fields, importance, context, reference, writers } = part;
    const old = status === "superseded";
    return element(
      "article",
      { class: `memory ${old ? "old" : ""}`, "data-category": category },
      element(
        "p",
        { class: "memory-head" },
        element("span", { class: "category", text: page.shapes.cut(category, 24) }),
        old ? element("s", {}, data(title)) : element("strong", {}, data(title)),
        status !== "active" ? tag(status, status === "tentative" ? "warn" : "") : "",
        persistence === "core" ? tag("core") : "",
        persistence === "ephemeral" ? tag("ephemeral") : "",
      ),
      text ? element("p", { class: "memory-text" }, page.prose(text)) : "",
      context ? element("p", { class: "soft" }, "Context: ", data(context)) : "",
      part.see_also ? element("p", { class: "soft" }, "See also: ", data(part.see_also)) : "",
      reference ? element("p", { class: "soft" }, "Reference: ", data(reference)) : "",
      element(
        "p",
        { class: "memory-foot soft" },
        where || "",
        where ? " · " : "",
        fields?.includes("importance") ? "" : `importance ${importance}`,
        fields && !fields.includes("importance") ? " · " : "",
        fields ? data(fields) : "",
        writers?.length ? [" · by ", data(writers.join(", "))] : "",
      ),
      tools || "",
    );
  }

  function memories(facts, tools) {
    if (facts.memories.length === 0) return element("p", { class: "soft", text: "No memories yet." });
    return element(
      "div",
      {},
      facts.memories.map((part) => memory(part, { tools: tools?.(part) })),
    );
  }

  function ways(app, facts) {
    if (facts.ways.length === 0) return [];
    const rows = facts.ways.map((way) =>
      element(
        "li",
        {},
        element("span", { class: "arrow", "aria-hidden": "true", text: ARROWS[way.direction] || "·" }),
        data(way.action),
        " to ",
        page.link(app.world.nameOf(page.placeScope(way.to), app.step), () => app.choose(page.placeScope(way.to), true)),
        way.times > 1 ? element("span", { class: "soft", text: ` ×${way.times}` }) : "",
        way.fields ? element("span", { class: "soft" }, " ", data(way.fields)) : "",
        way.after ? element("span", { class: "soft" }, " (after ", way.after.map(opener), ")") : "",
      ),
    );
    return [heading("Ways"), element("ul", { class: "plain" }, rows)];
  }

  function opener(action, index) {
    return [index > 0 ? ", " : "", data(action)];
  }

  function actions(list) {
    return list.map(({ action, times, deadly }, index) => [
      index > 0 ? ", " : "",
      element("code", {}, data(action)),
      times > 1 ? element("span", { class: "soft", text: ` ×${times}` }) : "",
      deadly ? [" ", tag("deadly", "bad")] : "",
    ]);
  }

  // Tries with the same reply stand together, as in the file.
  function tried(facts) {
    if (facts.tried.length === 0) return [];
    const groups = [];
    for (const one of facts.tried) {
      const last = groups.at(-1);
      if (last && last.reply === one.reply) last.actions.push(one);
      else groups.push({ reply: one.reply, actions: [one] });
    }
    const rows = groups.map((group) =>
      element(
        "li",
        {},
        actions(group.actions),
        group.reply ? element("span", { class: "reply soft" }, data(group.reply)) : "",
      ),
    );
    const shown = element("ul", { class: "plain" }, rows);
    return [heading("Tried in vain", `${count(facts.vain, "try", "tries")}`), shown];
  }

  function worked(facts) {
    return facts.worked.length === 0 ? [] : [heading("Worked"), element("p", {}, actions(facts.worked))];
  }

  function untried(app, facts) {
    const left = facts.visits > 0 ? app.world.untried(facts, app.step) : [];
    return left.length === 0 ? [] : [heading("Never tried"), element("p", { class: "soft", text: left.join(", ") })];
  }

  function texts(title, list) {
    return list.length === 0
      ? []
      : [heading(title), ...list.map((text) => element("p", { class: "memory-text" }, data(text)))];
  }

  // All of a section at the page's step.
  function section(app, facts, { tools } = {}) {
    return element(
      "div",
      { class: "section" },
      memories(facts, tools),
      ways(app, facts),
      tried(facts),
      worked(facts),
      untried(app, facts),
      texts("Seen", facts.seen),
      texts("Notes", facts.notes),
    );
  }

  page.render = { memory, section, tag, heading };
})((globalThis.memoriesPage ||= {}));
