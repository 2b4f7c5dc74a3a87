// Time: the slider, the marks of episodes, the curve of what was known, and playing.
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
      this.slider.addEventListener("input", () => this.app.go(Number(this.slider.value)));
      this.on("time-first", () => this.jump(0));
      this.on("time-back", () => this.jump(this.app.step - 1));
      this.on("time-next", () => this.jump(this.app.step + 1));
      this.on("time-last", () => this.jump(this.app.world.last));
      this.on("time-play", () => (this.playing ? this.stop() : this.play()));
      for (const name of ["first", "back", "play", "next", "last"])
        byId(`time-${name}`).replaceChildren(page.icon(name));
      this.extend();
    }

    on(id, action) {
      byId(id).addEventListener("click", action);
    }

    jump(step) {
      this.stop();
      this.app.go(step);
    }

    // Takes the number of steps and the episodes anew.
    extend() {
      const { world } = this.app;
      this.slider.max = String(world.last);
      this.slider.disabled = byId("time-play").disabled = world.last === 0;
      this.drawMarks();
      clearTimeout(this.curveWaits);
      this.curveWaits = setTimeout(() => this.drawCurve(), 60);
    }

    drawMarks() {
      const { world } = this.app;
      const total = Math.max(1, world.last);
      const shown =
        world.episodes.length > 24
          ? world.episodes.filter((_, index, all) => index % Math.ceil(all.length / 24) === 0)
          : world.episodes;
      const numbers = byId("marks").clientWidth / Math.max(1, shown.length) < 84;
      byId("marks").replaceChildren(
        ...shown.map(({ episode, step }) => {
          const mark = element("button", {
            type: "button",
            "aria-label": `Go to the beginning of episode ${episode}`,
            text: numbers ? String(episode) : `Episode ${episode}`,
            on: { click: () => this.jump(step) },
          });
          mark.style.insetInlineStart = `${(step / total) * 100}%`;
          return mark;
        }),
      );
    }

    // The number of memories at each step, as an area behind the slider.
    drawCurve() {
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
      const points = [];
      let live = 0;
      for (const step of [...changes.keys()].sort((one, other) => one - other)) {
        points.push([step, live]);
        live += changes.get(step);
        points.push([step, live]);
      }
      points.push([Math.max(1, world.last), live]);
      this.paintCurve(points, Math.max(1, ...points.map(([, value]) => value)));
    }

    paintCurve(points, most) {
      const { world } = this.app;
      const total = Math.max(1, world.last);
      const line = points
        .map(([step, value]) => `L${((step / total) * 1000).toFixed(1)} ${(40 - (value / most) * 36).toFixed(1)}`)
        .join("");
      const bounds = world.episodes.map(({ step }) => `M${((step / total) * 1000).toFixed(1)} 0V40`).join("");
      byId("curve").replaceChildren(
        drawn("path", { class: "area", d: `M0 40${line}L1000 40Z` }),
        drawn("path", { class: "bounds", d: bounds }),
      );
    }

    play() {
      const { world } = this.app;
      if (this.app.step >= world.last) this.app.go(0);
      this.playing = true;
      this.showPlaying();
      let [before, due] = [performance.now(), 0];
      const tick = (now) => {
        if (!this.playing) return;
        due += ((now - before) / 1000) * Number(byId("speed").value);
        before = now;
        const steps = Math.floor(due);
        due -= steps;
        if (steps > 0) this.app.go(this.app.step + steps);
        if (this.app.step >= world.last) this.stop();
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
      this.slider.value = String(step);
      this.slider.setAttribute("aria-valuetext", this.words(step));
      const share = `${(step / Math.max(1, this.app.world.last)) * 100}%`;
      this.slider.style.setProperty("--share", share);
      byId("curve-now").style.inlineSize = share;
      this.showStep(step);
      byId("time-back").disabled = byId("time-first").disabled = step === 0;
      byId("time-next").disabled = byId("time-last").disabled = step === this.app.world.last;
      byId("past").hidden = step === this.app.world.last;
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
