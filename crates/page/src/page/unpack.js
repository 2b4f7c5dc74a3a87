// The data of the page as the program packs it (src/view/world.rs, parts.rs, steps.rs), made into objects by name.
// The time of a step is told in seconds since the one before. A later piece of data, which `serve` sends, goes on where
// the one before has ended.
(function (page) {
  "use strict";

  const KINDS = { s: "start", t: "turn", c: "command", o: "outside", g: "gap" };
  const NO_EFFECT = 1;
  const REPEAT = 2;
  const DIED = 4;

  // An object without the fields that have no value.
  function known(fields) {
    for (const name of Object.keys(fields)) {
      if (fields[name] === undefined || fields[name] === null || fields[name] === false) delete fields[name];
    }
    return fields;
  }

  function mark(episode, turn) {
    return [episode && `Ep${episode}`, turn && `T${turn}`].filter(Boolean).join(", ");
  }

  class Unpacker {
    constructor() {
      this.strings = [];
      this.texts = [];
      this.time = 0;
      this.last = new Map();
    }

    // The data of a page, or what is new of it.
    unpack(packed) {
      this.strings.push(...packed.strings);
      this.texts.push(...packed.texts);
      const data = { ...packed };
      delete data.strings;
      delete data.texts;
      data.steps = packed.steps.map((step) => this.step(step));
      data.parts = packed.parts.map((part) => this.part(part));
      data.sections = packed.sections.map((section) => this.section(section));
      return data;
    }

    step([kind, episode, turn, time, action, from, to, score, flags = 0, outcome, reason, memories, command]) {
      if (typeof time === "number") this.time += time;
      const text = (number) => (typeof number === "number" ? this.strings[number] : undefined);
      return known({
        kind: KINDS[kind], episode, turn, action: text(action), from, to, score, command: text(command), outcome: text(outcome), reason: text(reason),
        time: typeof time === "number" ? new Date(this.time * 1000).toISOString() : undefined,
        no_effect: (flags & NO_EFFECT) !== 0, repeat: (flags & REPEAT) !== 0, died: (flags & DIED) !== 0,
        memories: memories?.map(([result, scope, title]) => ({ outcome: text(result), scope: text(scope) || "", title })),
      });
    }

    part(part) {
      if (!Array.isArray(part)) return part;
      const [kind, first, ...rest] = part;
      switch (kind) {
        case "v": return { k: "visits", visits: first, episodes: rest[0] };
        case "n": return { k: "note", text: first };
        case "s": return { ...this.tried(first, rest), k: "seen" };
        case "w": return this.way(first, rest);
        case "o": return { k: "worked", actions: [this.action(first, rest)] };
        case "t": return this.tried(first, rest);
        default: return { k: "other", text: String(first) };
      }
    }

    way(action, [to, times, episode, turn, after]) {
      const openers = after?.map((opener) => this.texts[opener]);
      return known({ k: "way", action: this.texts[action], to, times, fields: mark(episode, turn) || undefined, after: openers });
    }

    action(action, [times, episode, turn]) {
      return known({ action: this.texts[action], times, episode, turn });
    }

    tried(first, [times, episode, turn, reply, result]) {
      const action = this.action(first, [times, episode, turn]);
      if (result === "deadly") action.deadly = true;
      if (result === "unknown" || result === "unseen" || result === "died") action.effect_unknown = true;
      return { k: "tried", actions: [action], reply: this.texts[reply] };
    }

    // Each version is told by its difference from the one before.
    section({ scope, kind, id, versions }) {
      const last = this.last.get(scope) || { name: "", parts: [] };
      this.last.set(scope, last);
      return known({ scope, kind, id, versions: versions.map((version) => this.version(version, last)) });
    }

    version([step, name, ...splices], last) {
      if (name === null) {
        last.name = "";
        last.parts = [];
        return [step, null];
      }
      if (name !== 0) last.name = name;
      const parts = last.parts.slice();
      for (let at = 0; at < splices.length; at += 3) parts.splice(splices[at], splices[at + 1], ...splices[at + 2]);
      last.parts = parts;
      return [step, last.name, parts];
    }
  }

  Object.assign(page, { Unpacker });
})((globalThis.memoriesPage ||= {}));
