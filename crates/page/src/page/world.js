// The world at any step: which version of each section held, and what follows from its parts.
// The data enters as view_data describes it; live updates are appended. Nothing here touches the document.
(function (page) {
  "use strict";

  const COMPASS = {
    north: [0, -1],
    northeast: [1, -1],
    east: [1, 0],
    southeast: [1, 1],
    south: [0, 1],
    southwest: [-1, 1],
    west: [-1, 0],
    northwest: [-1, -1],
  };
  const DIRECTIONS = [...Object.keys(COMPASS), "up", "down", "in", "out"];
  const SHORT = {
    n: "north",
    ne: "northeast",
    e: "east",
    se: "southeast",
    s: "south",
    sw: "southwest",
    w: "west",
    nw: "northwest",
    u: "up",
    d: "down",
  };

  // The direction that an action goes in, or undefined.
  function directionOf(action) {
    const word = action
      .trim()
      .toLowerCase()
      .replace(/^go\s+/, "");
    const long = SHORT[word] || word;
    return DIRECTIONS.includes(long) ? long : undefined;
  }

  // The scope of a place, as all data names it.
  function placeScope(id) {
    return `location:${id}`;
  }

  function emptyFacts(version) {
    return {
      since: version[0],
      name: version[1],
      parts: version[2],
      visits: 0,
      episodes: [],
      memories: [],
      ways: [],
      worked: [],
      tried: [],
      seen: [],
      notes: [],
      live: 0,
      vain: 0,
      danger: 0,
      targets: new Set(),
      gone: new Set(),
      refused: new Set(),
    };
  }

  function addTried(facts, part) {
    for (const action of part.actions) {
      const direction = action.direction || directionOf(action.action);
      facts.tried.push({ ...action, direction, reply: part.reply || "" });
      if (!action.effect_unknown) facts.vain += action.times;
      if (action.deadly) facts.danger = 2;
      if (direction) facts.refused.add(direction);
    }
  }

  function addMemory(facts, part) {
    facts.memories.push(part);
    if (part.status === "superseded") return;
    facts.live += 1;
    if (part.category === "DANGER") facts.danger = Math.max(facts.danger, part.importance >= 900 ? 2 : 1);
  }

  const ADD = {
    visits(facts, part) {
      facts.visits = part.visits;
      facts.episodes = part.episodes;
    },
    memory: addMemory,
    tried: addTried,
    way(facts, part) {
      const direction = part.direction || directionOf(part.action);
      facts.ways.push({ ...part, direction });
      facts.targets.add(part.to);
      if (direction) facts.gone.add(direction);
    },
    worked(facts, part) {
      for (const action of part.actions) {
        facts.worked.push(action);
        const direction = directionOf(action.action);
        if (direction) facts.gone.add(direction);
      }
    },
    seen(facts, part) {
      facts.seen.push(`${part.actions[0].action}: ${part.reply || ""}`);
    },
    note(facts, part) {
      facts.notes.push(part.text);
    },
  };

  class World {
    constructor(data) {
      this.data = data;
      this.facts = new WeakMap();
      this.searchable = new Map();
      this.byScope = new Map(data.sections.map((section) => [section.scope, section]));
      this.indexEpisodes();
    }

    get steps() {
      return this.data.steps;
    }
    get sections() {
      return this.data.sections;
    }
    get last() {
      return this.data.steps.length - 1;
    }

    // For each step the one at which its episode began, and the place where the player is.
    indexEpisodes() {
      this.episodes = [];
      this.episodeStart = [];
      this.here = [];
      this.extendIndex(0);
    }

    extendIndex(first) {
      for (let step = first; step < this.steps.length; step += 1) {
        const { episode, to } = this.steps[step];
        const latest = this.episodes.at(-1);
        if (episode !== undefined && (!latest || latest.episode !== episode)) this.episodes.push({ episode, step });
        this.episodeStart.push(this.episodes.at(-1)?.step ?? 0);
        this.here.push(to ?? (step > 0 ? this.here[step - 1] : undefined));
      }
    }

    // The number of the version that holds at a step, or -1.
    versionAt(section, step) {
      let low = 0;
      let high = section.versions.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (section.versions[middle][0] <= step) low = middle + 1;
        else high = middle;
      }
      return low - 1;
    }

    // Facts about a section at a step; null where it is not there.
    at(section, step) {
      const index = section ? this.versionAt(section, step) : -1;
      return index < 0 ? null : this.factsOf(section.versions[index]);
    }

    factsOf(version) {
      if (version[1] === null || version[1] === undefined) return null;
      let facts = this.facts.get(version);
      if (!facts) {
        facts = emptyFacts(version);
        for (const index of version[2]) {
          const part = this.data.parts[index];
          ADD[part.k]?.(facts, part);
        }
        this.facts.set(version, facts);
      }
      return facts;
    }

    // All sections of some kinds that are there at a step, in the order of the data.
    *standing(step, ...kinds) {
      for (const section of this.sections) {
        if (kinds.length > 0 && !kinds.includes(section.kind)) continue;
        const facts = this.at(section, step);
        if (facts) yield { section, facts };
      }
    }

    // Name to show for a section: that of the step, else what its scope says.
    name(section, facts) {
      if (facts?.name) return facts.name;
      if (!section) return "?";
      return (
        { game: "The game", world: "The world", scene: "Scene", dialogue: "Dialogue" }[section.scope] ||
        this.scopeName(section.scope)
      );
    }

    scopeName(scope) {
      const [, kind, id] = scope.match(/^([a-z]+):(.*)$/s) || [];
      const called = { location: "Place", dir: "Folder", topic: "Topic" }[kind];
      return called ? `${called} ${id}` : scope;
    }

    nameOf(scope, step) {
      const section = this.byScope.get(scope);
      return section ? this.name(section, this.at(section, step)) : this.scopeName(scope);
    }

    // Directions that were neither walked, nor refused here, nor are unknown to the game.
    untried(facts, step) {
      const game = this.at(this.byScope.get("game"), step);
      return DIRECTIONS.filter(
        (direction) => !facts.gone.has(direction) && !facts.refused.has(direction) && !game?.refused.has(direction),
      );
    }

    // The words of a memory for searching, made once.
    wordsOf(part) {
      let found = this.searchable.get(part);
      if (!found) {
        found = { title: page.words(part.title), text: page.words(`${part.text} ${(part.tags || []).join(" ")}`) };
        this.searchable.set(part, found);
      }
      return found;
    }

    // A live update: new steps, parts and versions; the rest is replaced.
    append(change) {
      const first = this.steps.length;
      for (const step of change.steps || []) this.steps.push(step);
      for (const part of change.parts || []) this.data.parts.push(part);
      for (const update of change.sections || []) this.appendSection(update);
      for (const key of ["stats", "top", "check", "run", "frontier"]) if (change[key]) this.data[key] = change[key];
      if (change.map) Object.assign(this.data, { map: change.map, narrow_map: change.narrow_map });
      this.data.recalls ||= {};
      for (const [scope, recall] of Object.entries(change.recalls || {})) {
        if (recall === null) delete this.data.recalls[scope];
        else this.data.recalls[scope] = recall;
      }
      this.extendIndex(first);
    }

    appendSection(update) {
      const section = this.byScope.get(update.scope);
      if (section) section.versions.push(...update.versions);
      else {
        this.sections.push(update);
        this.byScope.set(update.scope, update);
      }
    }
  }

  Object.assign(page, { World, COMPASS, DIRECTIONS, directionOf, placeScope });
})((globalThis.memoriesPage ||= {}));
