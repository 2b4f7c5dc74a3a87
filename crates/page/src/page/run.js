// The best run of the game: the places that it leads through, and the legs between them.
(function (page) {
  "use strict";

  // `places` has the place of each action, and behind these the one where the last of them leads. Each two places have one
  // leg, with the number of the first action that takes it.
  page.runOf = function (data) {
    const stops = data?.stops || [];
    const places = [];
    const legs = new Map();
    for (const [index, { place }] of stops.entries()) places.push(place ?? (stops[index - 1]?.to || places.at(-1)));
    if (stops.length > 0) places.push(stops.at(-1).to ?? places.at(-1));
    for (let first = 0; first < stops.length; first += 1) {
      const [from, to] = [places[first], places[first + 1]];
      const key = [from, to].sort().join(" ");
      if (from !== to && !legs.has(key)) legs.set(key, { from, to, first });
    }
    return { ...data, stops, places, legs: [...legs.values()], beginsAt: data?.begins_at ?? places[0] };
  };
})((globalThis.memoriesPage ||= {}));
