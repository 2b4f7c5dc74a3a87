// The part of the map that is known at a step. It keeps the state of one step and moves it to another, and says which
// places and ways differ: so the slider redraws only these.
(function (page) {
  "use strict";

  // Facts of a place that is known by a way alone.
  const UNSEEN = { live: 0, vain: 0, danger: 0, visits: 0, targets: new Set(), unseen: true };

  class Explored {
    constructor(world) {
      this.world = world;
      this.places = new Map();
      this.ways = [];
      this.waysOf = new Map();
      this.setMap();
    }

    // Takes the places and ways from the data anew, and begins before the first step.
    setMap() {
      const { places, ways } = this.world.data.map;
      const byId = new Map(
        this.world.sections
          .filter((section) => section.id !== undefined && section.kind === "location")
          .map((section) => [section.id, section]),
      );
      this.places = new Map(
        places.map(({ id, level }) => [
          id,
          { id, level, section: byId.get(id), version: -1, facts: null, known: false, incoming: 0 },
        ]),
      );
      const pairs = new Set(ways.map((way) => `${way.from} ${way.to}`));
      this.ways = ways.map(({ from, to }) => ({
        from,
        to,
        there: false,
        back: false,
        alone: from === to || pairs.has(`${to} ${from}`),
      }));
      this.waysOf = new Map();
      for (const way of this.ways) {
        for (const id of new Set([way.from, way.to])) {
          if (!this.waysOf.has(id)) this.waysOf.set(id, []);
          this.waysOf.get(id).push(way);
        }
      }
    }

    // Takes where all stand from a layout. Those of one map have the same places and ways, in one order.
    lay({ places, ways }) {
      for (const { id, x, y } of places) Object.assign(this.places.get(id), { x, y });
      ways.forEach(({ points }, index) => {
        this.ways[index].points = points;
      });
    }

    // Gives a place of the map the section that it has got since.
    attach(sections) {
      for (const { id, kind, scope } of sections) {
        const place = kind === "location" ? this.places.get(id) : undefined;
        if (place) place.section = this.world.byScope.get(scope);
      }
    }

    // Moves to a step; gives the places and ways that are other than before.
    move(step) {
      const places = new Set();
      const ways = new Set();
      for (const place of this.places.values()) {
        if (!place.section) continue;
        const version = this.world.versionAt(place.section, step);
        if (version === place.version) continue;
        this.replace(place, version, places, ways);
      }
      for (const way of ways) this.look(way);
      for (const place of places) place.known = place.facts !== null || place.incoming > 0;
      return { places, ways };
    }

    replace(place, version, places, ways) {
      const before = place.facts;
      place.version = version;
      place.facts = version < 0 ? null : this.world.factsOf(place.section.versions[version]);
      places.add(place);
      this.count(before, -1, places);
      this.count(place.facts, 1, places);
      for (const way of this.waysOf.get(place.id) || []) ways.add(way);
    }

    count(facts, change, places) {
      for (const id of facts?.targets || []) {
        const target = this.places.get(id);
        if (!target) continue;
        target.incoming += change;
        if (!target.facts) places.add(target);
      }
    }

    look(way) {
      const leads = (from, to) => this.places.get(from)?.facts?.targets.has(to) || false;
      way.there = leads(way.from, way.to);
      way.back = !way.alone && leads(way.to, way.from);
    }

    factsOf(place) {
      return place.facts || UNSEEN;
    }
  }

  page.Explored = Explored;
})((globalThis.memoriesPage ||= {}));
