// What a player wants to know first: how far the play got, what is next, what kills. All of it is of the present.
(function (page) {
  "use strict";

  const { byId, element, data, number, count } = page;
  const SHOWN = 2;

  function figure(key, value, name, notes) {
    return element(
      "div",
      { class: "figure", "data-figure": key },
      element("p", { class: "value", text: typeof value === "number" ? number(value) : value }),
      element("p", { class: "name", text: name }),
      element("ul", { class: "plain soft note" }, notes.filter(Boolean).map((note) => element("li", {}, note))),
    );
  }

  function place(app, id, what) {
    const scope = page.placeScope(id);
    const link = page.link(app.world.nameOf(scope, app.world.last), () => app.choose(scope, true));
    return element("span", { class: "where" }, link, " ", data(what));
  }

  // The best score and its run; where the game has no score, how much of it was seen.
  function far(app, { run, stats }) {
    const seen = stats.coverage?.visited ?? 0;
    const episodes = stats.by_episode.length;
    const visited = `${count(seen, "place")} visited${episodes > 0 ? ` in ${count(episodes, "episode")}` : ""}`;
    const scores = stats.by_episode.map(({ best_score: score }) => score).filter((score) => score > 0);
    const best = run?.score ?? (scores.length > 0 ? Math.max(...scores) : undefined);
    if (best === undefined)
      return figure("far", seen, seen === 1 ? "place visited" : "places visited", [
        count(stats.total_memories, "memory", "memories"),
      ]);
    const steps = run?.stops.length
      ? [
          page.link(`Walk its ${count(run.stops.length, "step")}`, () => app.walk(0)),
          run.episode === undefined || run.episode === null ? "" : `, found in episode ${run.episode}`,
        ]
      : "";
    return figure("far", best, best === 1 ? "point in the best run" : "points in the best run", [steps, visited]);
  }

  // Directions that were never tried: those that a description names stand first.
  function next(app, { frontier }) {
    const { places, left_out: more, described } = frontier || { places: [], left_out: 0 };
    const all = described || places.length + more;
    const rows = places.slice(0, SHOWN).map(({ id, directions, named }) => {
      const first = (named.length > 0 ? named : directions).slice(0, 3);
      return place(app, id, first.join(", "));
    });
    const none = all === 0 ? "Every direction was tried." : "";
    const exits = described > 0 ? "described exits to try" : "exits to try";
    return figure("next", all, `${all === 1 ? "place" : "places"} with ${exits}`, [...rows, none]);
  }

  // The places where something kills, each with the action or the memory that says so.
  function deadly(app) {
    const found = [];
    for (const { section, facts } of app.world.standing(app.world.last, "location")) {
      if (facts.danger < 2) continue;
      const memories = facts.memories.filter((one) => one.category === "DANGER" && one.status !== "superseded");
      const [worst] = memories.sort((one, other) => other.importance - one.importance);
      const action = facts.tried.find((one) => one.deadly)?.action;
      found.push({ id: section.id, cause: action ?? worst?.title ?? "", weight: worst?.importance ?? 0 });
    }
    return found.sort((one, other) => other.weight - one.weight);
  }

  function kills(app, { stats }) {
    const places = deadly(app);
    const deaths = stats.by_episode.reduce((sum, { deaths: own }) => sum + own, 0);
    const rows = places.slice(0, SHOWN).map(({ id, cause }) => place(app, id, page.shapes.cut(cause, 60)));
    const none = places.length > 0 ? "" : deaths > 0 ? `${count(deaths, "death")} elsewhere.` : "Nothing is known to kill.";
    return figure("kills", places.length, places.length === 1 ? "place that kills" : "places that kill", [...rows, none]);
  }

  page.showFigures = function (app) {
    const { data: all } = app.world;
    const own = all.map.places.length > 0 ? [next(app, all), kills(app, all)] : [];
    byId("figures").replaceChildren(far(app, all), ...own);
  };
})((globalThis.memoriesPage ||= {}));
