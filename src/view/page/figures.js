// The three numbers of the first screen. All of them are figures of `stats`, and of the present.
(function (page) {
  "use strict";

  const { byId, element, number, percent, count } = page;

  function figure(value, name, note, key) {
    return element(
      "div",
      { class: "figure", "data-figure": key },
      element("p", { class: "value", text: value }),
      element("p", { class: "name", text: name }),
      element("p", { class: "soft note", text: note }),
    );
  }

  // Share of turns of the last episode that repeated what had no effect there, against the first.
  function repeats(stats) {
    const episodes = stats.by_episode.filter(({ repeated_share }) => repeated_share !== null);
    if (episodes.length === 0)
      return figure(percent(stats.play.repeated_share), "repeats in vain", "no recorded turns", "repeats");
    const [first, last] = [episodes[0], episodes.at(-1)];
    const before =
      episodes.length > 1 ? `${percent(first.repeated_share)} in episode ${first.episode}` : "of its turns";
    return figure(percent(last.repeated_share), `repeats in episode ${last.episode}`, before, "repeats");
  }

  function places(stats) {
    const visited = stats.coverage?.visited ?? stats.locations_covered;
    const note = `${count(stats.total_memories, "memory", "memories")}, ${count(stats.tried_count, "tried action")}`;
    return figure(number(visited), visited === 1 ? "place visited" : "places visited", note, "places");
  }

  function tokens(stats) {
    const recall = stats.recall_tokens;
    if (!recall) return figure("–", "tokens a recall", "nothing to recall yet", "tokens");
    return figure(number(recall.p50), "tokens a recall", `median; at most ${number(recall.max)}`, "tokens");
  }

  page.showFigures = function (stats) {
    byId("figures").replaceChildren(repeats(stats), places(stats), tokens(stats));
  };
})((globalThis.memoriesPage ||= {}));
