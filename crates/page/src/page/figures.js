// The three numbers of the first screen. All of them are figures of `stats`, and of the present.
(function (page) {
  "use strict";

  const { byId, element, number, count } = page;

  function figure(value, name, note, key) {
    return element(
      "div",
      { class: "figure", "data-figure": key },
      element("p", { class: "value", text: value }),
      element("p", { class: "name", text: name }),
      element("p", { class: "soft note", text: note }),
    );
  }

  function memories(stats) {
    const name = stats.total_memories === 1 ? "memory" : "memories";
    return figure(number(stats.total_memories), name, count(stats.tried_count, "tried action"), "memories");
  }

  function places(stats) {
    const visited = stats.coverage?.visited ?? stats.locations_covered;
    const note = stats.coverage ? `${number(stats.coverage.with_memories)} with memories` : "";
    return figure(number(visited), visited === 1 ? "place visited" : "places visited", note, "places");
  }

  function tokens(stats) {
    const recall = stats.recall_tokens;
    if (!recall) return figure("–", "tokens a recall", "nothing to recall yet", "tokens");
    return figure(number(recall.p50), "tokens a recall", `median; at most ${number(recall.max)}`, "tokens");
  }

  page.showFigures = function (stats) {
    byId("figures").replaceChildren(memories(stats), places(stats), tokens(stats));
  };
})((globalThis.memoriesPage ||= {}));
