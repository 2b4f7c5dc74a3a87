// The panel of the chosen place or section: what the file held about it at the step, and what recall says now.
(function (page) {
  "use strict";

  const { byId, element, data, count } = page;

  class Panel {
    constructor(app) {
      this.app = app;
      this.box = byId("place");
      this.box.addEventListener("keydown", (event) => {
        if (event.key === "Escape") this.app.close();
      });
    }

    show(focus) {
      const { app } = this;
      this.box.hidden = app.chosen === null;
      byId("world").classList.toggle("with-place", app.chosen !== null);
      if (app.chosen === null) return;
      const section = app.world.byScope.get(app.chosen);
      const facts = app.world.at(section, app.step);
      this.shown = facts;
      const title = element("h3", { id: "place-name", tabindex: -1 }, data(app.world.nameOf(app.chosen, app.step)));
      const close = element(
        "button",
        { type: "button", class: "icon close", "aria-label": "Close", on: { click: () => app.close() } },
        page.icon("close"),
      );
      this.box.replaceChildren(
        element("div", { class: "place-head" }, title, close),
        this.summary(section, facts),
        this.body(section, facts),
        this.recall(),
      );
      this.box.scrollTop = 0;
      if (focus) this.focus(title);
    }

    focus(title) {
      title.focus({ preventScroll: true });
      if (matchMedia("(max-width: 60rem)").matches)
        this.box.scrollIntoView({ block: "start", behavior: page.calm() ? "auto" : "smooth" });
    }

    // Draws a new step; what stands is left as it is when nothing in it changed.
    step() {
      const { app } = this;
      if (app.chosen === null) return;
      const facts = app.world.at(app.world.byScope.get(app.chosen), app.step);
      const past = app.step !== app.world.last;
      if ((facts === this.shown && past === this.past) || this.box.querySelector("form")) return;
      const top = this.box.scrollTop;
      this.show(false);
      this.box.scrollTop = top;
    }

    // Draws anew what a live change may have brought. A form that is being filled in stays.
    changed(done) {
      if (this.app.chosen === null || (!done && this.box.querySelector("form"))) return;
      const top = this.box.scrollTop;
      this.show(false);
      this.box.scrollTop = top;
    }

    summary(section, facts) {
      const { app } = this;
      this.past = app.step !== app.world.last;
      const row = element("p", { class: "summary soft" });
      if (!facts) {
        const box = app.map.boxOf(app.chosen);
        row.textContent = box?.place.known
          ? "Known by a way that leads here, not yet visited."
          : "Not known at this step.";
        return row;
      }
      const words = [];
      if (section.kind === "location") words.push(`id ${section.id}`);
      if (facts.visits) words.push(count(facts.visits, "visit"));
      words.push(count(facts.live, "memory", "memories"));
      const recall = app.world.data.recalls?.[app.chosen];
      if (recall && !this.past) words.push(`${count(recall.tokens, "token")} a recall`);
      const since = app.time.when(facts.since);
      if (since) words.push(`last changed: ${since}`);
      row.textContent = words.join(" · ");
      return row;
    }

    body(section, facts) {
      const { app } = this;
      if (!facts) return element("div");
      const editing = app.edit && !this.past ? app.edit : null;
      return element(
        "div",
        {},
        app.edit && this.past
          ? element("p", { class: "hint", text: "This is the past. Go to the present to edit." })
          : "",
        page.render.section(app, facts, { tools: editing ? (part) => editing.tools(section.scope, part) : undefined }),
        editing ? editing.adding(section.scope) : "",
      );
    }

    recall() {
      const { app } = this;
      const recall = app.world.data.recalls?.[app.chosen];
      if (!recall) return "";
      const open = {
        open: this.recallOpen === true,
        on: {
          toggle: (event) => {
            this.recallOpen = event.target.open;
          },
        },
      };
      return element(
        "details",
        { class: "recall", ...open },
        element(
          "summary",
          {},
          "What recall says here",
          element("span", { class: "soft", text: ` · of the present, ${count(recall.tokens, "token")}` }),
        ),
        element("pre", { tabindex: 0 }, data(recall.text)),
      );
    }
  }

  page.Panel = Panel;
})((globalThis.memoriesPage ||= {}));
