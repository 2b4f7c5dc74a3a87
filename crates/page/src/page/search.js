// Search. A file has no program behind it: there each word of the question must begin a word of a name, title, text or
// tag. A served page asks `query`, which searches by meaning.
(function (page) {
  "use strict";

  const { byId, element, data, count } = page;
  const MOST = 30;
  const NOTE = "The command memories serve also searches by meaning.";

  // Rank of an entry: names before titles before texts; 0 where a word of the question is nowhere.
  function rank(asked, name, found) {
    let total = 0;
    for (const word of asked) {
      const begins = ` ${word}`;
      if (name.includes(begins)) total += 9;
      else if (found?.title.includes(begins)) total += 4;
      else if (found?.text.includes(begins)) total += 1;
      else return 0;
    }
    return total / asked.length;
  }

  function byWords(app, question) {
    const asked = page.words(question).split(" ").filter(Boolean);
    if (asked.length === 0) return [];
    const hits = [];
    for (const { section, facts } of app.world.standing(app.step)) {
      const shown = app.world.name(section, facts);
      const name = page.words(shown);
      const own = rank(asked, name, null);
      if (own > 0) hits.push({ scope: section.scope, name: shown, title: "", rank: own + 1 });
      for (const part of facts.memories) {
        const found = rank(asked, own > 0 ? "" : name, app.world.wordsOf(part));
        if (found > 0)
          hits.push({
            scope: section.scope,
            name: shown,
            title: part.title,
            rank: found + (part.status === "superseded" ? -0.5 : 0),
          });
      }
    }
    return hits.sort((one, other) => other.rank - one.rank);
  }

  class Search {
    constructor(app) {
      this.app = app;
      this.input = byId("question");
      this.found = byId("found");
      byId("search").addEventListener("submit", (event) => {
        event.preventDefault();
        this.ask().then((hits) => hits?.length > 0 && this.open(hits[0]));
      });
      this.input.addEventListener("input", () => this.later());
      this.input.addEventListener("focus", () => {
        if (this.input.value) this.later();
      });
      byId("search").addEventListener("keydown", (event) => this.pressed(event));
      document.addEventListener("pointerdown", (event) => {
        if (!byId("search").contains(event.target)) this.close();
      });
    }

    later() {
      clearTimeout(this.waits);
      this.waits = setTimeout(() => this.ask(), this.app.live ? 220 : 60);
    }

    async ask() {
      clearTimeout(this.waits);
      const question = this.input.value.trim();
      if (question === "") {
        this.close();
        return [];
      }
      const asking = (this.asking = Symbol("question"));
      const answer = this.app.live
        ? await this.served(question)
        : { hits: byWords(this.app, question), how: "by words", note: NOTE };
      if (asking !== this.asking) return [];
      this.show(answer);
      return answer.hits;
    }

    // The places whose names have the words come first, at once; memories are those of `query`.
    async served(question) {
      const names = byWords(this.app, question)
        .filter(({ title }) => title === "")
        .slice(0, 5);
      try {
        const answer = await (await fetch(`search?q=${encodeURIComponent(question)}`)).json();
        if (answer.error) return { hits: names, note: `${answer.error}${answer.hint ? `. Hint: ${answer.hint}` : ""}` };
        const hits = answer.memories.map(({ scope, title, weak }) => ({
          scope,
          title,
          weak,
          name: this.app.world.nameOf(scope, this.app.world.last),
        }));
        return { hits: [...names, ...hits], how: "by meaning", note: "This is the file as it is now." };
      } catch (error) {
        return { hits: names, note: "The search did not answer. Places whose names match are shown." };
      }
    }

    // The memory stands first, and then its place; a place stands for itself.
    show({ hits, how, note }) {
      const rows = hits
        .slice(0, MOST)
        .map((hit) =>
          element(
            "li",
            {},
            element(
              "button",
              { type: "button", class: "hit", on: { click: () => this.open(hit) } },
              element("span", { class: "hit-name" }, data(hit.title || hit.name)),
              element(
                "span",
                { class: "hit-where soft" },
                hit.title ? data(hit.name) : this.kindOf(hit.scope),
                hit.weak ? ", unsure" : "",
              ),
            ),
          ),
        );
      const found = `${count(hits.length, "hit was", "hits were")} found${how ? ` ${how}` : ""}`;
      const words =
        hits.length === 0
          ? "Nothing was found."
          : hits.length > MOST
            ? `${found}; these are the best ${MOST}.`
            : `${found}.`;
      this.found.replaceChildren(
        element("p", { class: "soft", text: `${words} ${note}` }),
        rows.length > 0 ? element("ul", { class: "plain" }, rows) : "",
      );
      this.found.hidden = false;
      page.say(words);
    }

    kindOf(scope) {
      const facts = this.app.world.at(this.app.world.byScope.get(scope), this.app.step);
      const kind = scope.startsWith("location:") ? "a place" : "a section";
      return `${kind} with ${count(facts?.live ?? 0, "memory", "memories")}`;
    }

    open(hit) {
      this.close();
      this.app.choose(hit.scope, true);
    }

    close() {
      clearTimeout(this.waits);
      this.asking = null;
      this.found.hidden = true;
    }

    pressed(event) {
      if (event.key === "Escape" && !this.found.hidden) {
        event.stopPropagation();
        this.close();
        this.input.focus();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || this.found.hidden) return;
      event.preventDefault();
      const stops = [this.input, ...this.found.querySelectorAll("button")];
      stops[Math.min(Math.max(stops.indexOf(document.activeElement) + step, 0), stops.length - 1)].focus();
    }
  }

  page.Search = Search;
})((globalThis.memoriesPage ||= {}));
