// Time: the slider, the marks of episodes, the curve of what was known, and playing. On a walk along the best run the
// slider goes over its actions, and the marks and the curve are of its gains.
(function (page) {
  "use strict";

  const { byId, drawn, element } = page;
  const KINDS = {
    start: "Before the first known step",
    command: "A command changed the file",
    outside: "The file was changed from outside",
    gap: "What the file held before this step is not known",
  };

  class TimeBar {
    constructor(app) {
      this.app = app;
      this.playing = false;
      this.slider = byId("slider");
      this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
      this.on("time-first", () => this.jump(0));
      this.on("time-back", () => this.jump(this.at - 1));
      this.on("time-next", () => this.jump(this.at + 1));
      this.on("time-last", () => this.jump(this.last));
      this.on("time-play", () => (this.playing ? this.stop() : this.play()));
      for (const name of ["first", "back", "play", "next", "last"])
        byId(`time-${name}`).replaceChildren(page.icon(name));
      this.extend();
    }

    on(id, action) {
      byId(id).addEventListener("click", action);
    }

    get isWalk() {
      return this.app.stop !== null;
    }

    get at() {
      return this.app.stop ?? this.app.step;
    }

    get last() {
      return this.isWalk ? this.app.map.run.stops.length : this.app.world.last;
    }

    move(to) {
      if (this.isWalk) this.app.walk(to);
      else this.app.go(to);
    }

    jump(to) {
      this.stop();
      this.move(to);
    }

    // Takes the number of steps and the episodes anew, or those of the best run.
    extend() {
      this.walks = this.isWalk;
      this.slider.max = String(this.last);
      this.slider.setAttribute("aria-label", this.walks ? "Step of the best run" : "Step in time");
      this.slider.disabled = byId("time-play").disabled = this.last === 0;
      byId("time-run").setAttribute("aria-pressed", String(this.walks));
      this.drawMarks();
      clearTimeout(this.curveWaits);
      this.curveWaits = setTimeout(() => this.drawCurve(), 60);
    }

    // Episodes, or gains of the best run.
    bounds() {
      const { world, map } = this.app;
      if (!this.isWalk)
        return world.episodes.map(({ episode, step }) => ({
          at: step,
          short: String(episode),
          long: `Episode ${episode}`,
          label: `Go to the beginning of episode ${episode}`,
        }));
      const gains = [...map.run.stops.entries()].filter(([, { gain }]) => gain);
      return gains.map(([index, { gain }]) => ({
        at: index + 1,
        short: gain,
        long: gain,
        label: `Go to the gain of ${gain}`,
      }));
    }

    drawMarks() {
      const all = this.bounds();
      const width = byId("marks").clientWidth;
      const numbers = width / Math.max(1, all.length) < 84;
      // A mark whose text would stand on that of the one before is left out.
      let free = -Infinity;
      const shown = all.filter(({ at, short, long }) => {
        const left = (at / Math.max(1, this.last)) * width;
        const room = 14 + 8 * (numbers ? short : long).length;
        if (left < free || left + room > width + 10) return false;
        free = left + room;
        return true;
      });
      byId("marks").replaceChildren(
        ...shown.map(({ at, short, long, label }) => {
          const mark = element("button", {
            type: "button",
            "aria-label": label,
            text: numbers ? short : long,
            on: { click: () => this.jump(at) },
          });
          mark.style.insetInlineStart = `${(at / Math.max(1, this.last)) * 100}%`;
          return mark;
        }),
      );
    }

    // An area behind the slider: the number of memories at each step, or the points of the best run.
    drawCurve() {
      const changes = this.isWalk ? this.gains() : this.growth();
      const points = [];
      let sum = 0;
      for (const at of [...changes.keys()].sort((one, other) => one - other)) {
        points.push([at, sum]);
        sum += changes.get(at);
        points.push([at, sum]);
      }
      points.push([Math.max(1, this.last), sum]);
      this.paintCurve(points, Math.max(1, ...points.map(([, value]) => value)));
    }

    gains() {
      const { stops } = this.app.map.run;
      return new Map(stops.map(({ gain }, index) => [index + 1, Number.parseInt(gain, 10) || 0]));
    }

    growth() {
      const { world } = this.app;
      const changes = new Map();
      for (const section of world.sections) {
        let before = 0;
        for (const version of section.versions) {
          const live = world.factsOf(version)?.live ?? 0;
          if (live !== before) changes.set(version[0], (changes.get(version[0]) || 0) + live - before);
          before = live;
        }
      }
      return changes;
    }

    paintCurve(points, most) {
      const total = Math.max(1, this.last);
      const line = points
        .map(([step, value]) => `L${((step / total) * 1000).toFixed(1)} ${(40 - (value / most) * 36).toFixed(1)}`)
        .join("");
      const bounds = this.bounds()
        .map(({ at }) => `M${((at / total) * 1000).toFixed(1)} 0V40`)
        .join("");
      byId("curve").replaceChildren(
        drawn("path", { class: "area", d: `M0 40${line}L1000 40Z` }),
        drawn("path", { class: "bounds", d: bounds }),
      );
    }

    play() {
      if (this.at >= this.last) this.move(0);
      this.playing = true;
      this.showPlaying();
      let [before, due] = [performance.now(), 0];
      const tick = (now) => {
        if (!this.playing) return;
        due += ((now - before) / 1000) * Number(byId("speed").value);
        before = now;
        const steps = Math.floor(due);
        due -= steps;
        if (steps > 0) this.move(this.at + steps);
        if (this.at >= this.last) this.stop();
        else requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    }

    stop() {
      if (!this.playing) return;
      this.playing = false;
      this.showPlaying();
      page.say(this.words(this.app.step));
    }

    showPlaying() {
      byId("time-play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
      byId("time-play").replaceChildren(page.icon(this.playing ? "pause" : "play"));
    }

    show(step) {
      byId("time-run").hidden = this.app.map.run.stops.length === 0;
      if (this.walks !== this.isWalk) this.extend();
      this.slider.value = String(this.at);
      this.slider.setAttribute("aria-valuetext", this.isWalk ? this.wordsOfStop() : this.words(step));
      const share = `${(this.at / Math.max(1, this.last)) * 100}%`;
      this.slider.style.setProperty("--share", share);
      byId("curve-now").style.inlineSize = share;
      if (this.isWalk) this.showStop();
      else this.showStep(step);
      byId("time-back").disabled = byId("time-first").disabled = this.at === 0;
      byId("time-next").disabled = byId("time-last").disabled = this.at === this.last;
      byId("past").hidden = step === this.app.world.last;
    }

    // An action of the best run, with its place and what it gains.
    showStop() {
      const { map, world, stop, step } = this.app;
      const { action, gain } = map.run.stops[stop] || {};
      const place = map.run.places[stop];
      byId("step").replaceChildren(
        element("strong", { text: this.wordsOfStop() }),
        action ? element("code", {}, page.data(page.shapes.cut(action, 80))) : "",
        place === undefined ? "" : element("span", { class: "soft" }, page.data(world.nameOf(page.placeScope(place), step))),
        gain ? element("span", { class: "tag", text: `${gain} points` }) : "",
      );
    }

    wordsOfStop() {
      const { run } = this.app.map;
      const { stop } = this.app;
      if (stop < run.stops.length) return `Best run, step ${stop + 1} of ${run.stops.length}`;
      return `The end of the best run${run.score ? `, with ${run.score} points` : ""}`;
    }

    showStep(step) {
      const { kind, action, time, outcome, repeat, died, score } = this.app.world.steps[step];
      const when = this.when(step);
      byId("step").replaceChildren(
        element("strong", { text: when || this.kind(kind) }),
        action ? element("code", {}, page.data(page.shapes.cut(action, 80))) : "",
        kind === "command" || kind === "outside"
          ? element("span", {}, page.data(this.app.world.steps[step].command || ""))
          : "",
        outcome ? element("span", { class: "soft", text: outcome.replaceAll("_", " ") }) : "",
        repeat ? element("span", { class: "tag warn", text: "repeated in vain" }) : "",
        died ? element("span", { class: "tag bad", text: "died" }) : "",
        score !== undefined ? element("span", { class: "soft", text: `score ${score}` }) : "",
        time ? element("time", { class: "soft", datetime: time, text: page.moment(time) }) : "",
      );
    }

    kind(name) {
      if (this.app.world.last === 0) return "The file as it is; no former states are known";
      return KINDS[name] || "A step";
    }

    when(step) {
      const { episode, turn } = this.app.world.steps[step];
      if (turn === undefined) return "";
      return episode === undefined ? `Turn ${turn}` : `Episode ${episode}, turn ${turn}`;
    }

    // The step in a sentence, for screen readers.
    words(step) {
      const { kind, action, outcome } = this.app.world.steps[step];
      const end = step === this.app.world.last ? ", the present" : "";
      const what = action
        ? `: ${page.shapes.cut(action, 80)}${outcome ? `, ${outcome.replaceAll("_", " ")}` : ""}`
        : "";
      return `${this.when(step) || this.kind(kind)}${what}${end}`;
    }
  }

  page.TimeBar = TimeBar;
})((globalThis.memoriesPage ||= {}));
