// The map by keyboard: one place is in the tab order; arrows go along its ways, or to the nearest place that way.
(function (page) {
  "use strict";

  const ARROWS = {
    ArrowUp: "north",
    ArrowDown: "south",
    ArrowLeft: "west",
    ArrowRight: "east",
    PageUp: "up",
    PageDown: "down",
  };
  // Also the ways beside a compass point are in the direction of an arrow, after those that lead there exactly.
  const BESIDE = {
    north: ["north", "northeast", "northwest"],
    south: ["south", "southwest", "southeast"],
    east: ["east", "northeast", "southeast"],
    west: ["west", "northwest", "southwest"],
    up: ["up"],
    down: ["down"],
  };

  class MapKeys {
    constructor(map) {
      this.map = map;
      this.active = null;
      map.svg.addEventListener("keydown", (event) => this.pressed(event));
      map.svg.addEventListener("focusin", (event) => {
        const id = event.target.dataset?.id;
        if (id === undefined) return;
        this.rove(Number(id));
        if (event.target.matches(":focus-visible")) this.reveal(Number(id));
      });
    }

    // Makes a place the one that Tab leads to.
    rove(id) {
      const box = this.map.boxes.get(id);
      if (!box) return;
      this.map.boxes.get(this.active)?.group.setAttribute("tabindex", "-1");
      this.active = id;
      box.group.setAttribute("tabindex", "0");
    }

    // Keeps a place in the tab order that is known at the step.
    settle(id) {
      const known = (candidate) => this.map.boxes.get(candidate)?.place.known;
      if (known(this.active)) return;
      const first = known(id) ? id : [...this.map.boxes.keys()].find(known);
      if (first !== undefined) this.rove(first);
    }

    reveal(id) {
      const { x, y } = this.map.boxes.get(id);
      this.map.camera.reveal([x, y]);
    }

    focus(id) {
      this.rove(id);
      this.reveal(id);
      this.map.boxes.get(id).group.focus({ preventScroll: true });
    }

    pressed(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { camera } = this.map;
      const direction = ARROWS[event.key];
      if (direction && event.shiftKey && page.COMPASS[direction]) {
        const [dx, dy] = page.COMPASS[direction];
        camera.pan(-dx * 80, -dy * 80);
      } else if (direction) this.walk(direction);
      else if (event.key === "Enter" || event.key === " ") this.map.app.choose(page.placeScope(this.active), true);
      else if (event.key === "+" || event.key === "=") camera.zoom(1.25);
      else if (event.key === "-") camera.zoom(0.8);
      else if (event.key === "0") camera.fit();
      else return;
      event.preventDefault();
    }

    walk(direction) {
      const next = this.along(direction) ?? this.nearest(direction);
      if (next === undefined) page.say(`Nothing known ${direction} of here`);
      else this.focus(next);
    }

    // The place that a way of the direction leads to.
    along(direction) {
      const facts = this.map.boxes.get(this.active)?.place.facts;
      for (const name of BESIDE[direction]) {
        const way = facts?.ways.find((candidate) => candidate.direction === name);
        if (way && this.map.boxes.get(way.to)?.place.known) return way.to;
      }
      return undefined;
    }

    // The nearest known place within the quarter of the compass that an arrow points to.
    nearest(direction) {
      const from = this.map.boxes.get(this.active)?.place;
      const vector = page.COMPASS[direction];
      if (!from || !vector) return undefined;
      let [best, least] = [undefined, Infinity];
      for (const { place } of this.map.boxes.values()) {
        if (!place.known || place === from) continue;
        const [dx, dy] = [place.x - from.x, place.y - from.y];
        const ahead = dx * vector[0] + dy * vector[1];
        const aside = Math.abs(dx * vector[1]) + Math.abs(dy * vector[0]);
        if (ahead > 0 && aside <= ahead && ahead + aside * 2 < least) [best, least] = [place.id, ahead + aside * 2];
      }
      return best;
    }
  }

  page.MapKeys = MapKeys;
})((globalThis.memoriesPage ||= {}));
