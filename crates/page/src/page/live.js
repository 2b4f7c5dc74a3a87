// The served page: what a command or an editor changed arrives by server-sent events and is appended.
(function (page) {
  "use strict";

  const { byId } = page;

  class Live {
    constructor(app) {
      this.app = app;
      this.events = new EventSource("events");
      this.events.addEventListener("hello", (event) => this.hello(JSON.parse(event.data)));
      this.events.addEventListener("change", (event) => this.changed(JSON.parse(event.data)));
      this.events.addEventListener("anew", () => this.again());
      this.events.addEventListener("error", () => this.lost());
      this.mark("connected", "Live");
    }

    mark(state, text) {
      byId("live").hidden = false;
      byId("live").dataset.state = state;
      byId("live").textContent = text;
    }

    // The server names itself and the revision of its data after each connection: where these are not ours, something was
    // missed.
    async hello({ server, revision }) {
      this.mark("connected", "Live");
      if (this.wasLost) this.app.notice("");
      this.wasLost = false;
      const { data } = this.app.world;
      if (server !== data.server || revision !== data.revision) await this.again();
    }

    lost() {
      this.mark("lost", "Not connected");
      if (!this.wasLost)
        this.app.notice("The connection to memories serve is lost. What stands here may be old; trying again.");
      this.wasLost = true;
      if (this.events.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.retry);
      this.retry = setTimeout(() => {
        const { wasLost } = this;
        this.app.live = new Live(this.app);
        this.app.live.wasLost = wasLost;
      }, 3000);
    }

    async again() {
      try {
        this.app.take(await page.fetchData());
      } catch (error) {
        this.lost();
      }
    }

    // A change is appended only to the data that it follows. One that is in the data already is passed over.
    changed(packed) {
      const { app } = this;
      if (packed.revision <= app.world.data.revision) return undefined;
      if (packed.revision !== app.world.data.revision + 1) return this.again();
      const change = page.readMore(packed);
      const present = app.step === app.world.last;
      const known = new Set(
        [...app.explored.places.values()].filter(({ known: is }) => is).map(({ id: place }) => place),
      );
      app.world.append(change);
      app.world.data.revision = change.revision;
      app.took(change, present);
      const lit = (change.sections || []).filter(({ kind }) => kind === "location").map(({ id: place }) => place);
      const found = present
        ? [...app.explored.places.values()]
            .filter((place) => place.known && !known.has(place.id))
            .map((place) => place.id)
        : [];
      if (present) app.map.light(new Set([...lit, ...found]));
      if (change.steps?.length) page.say(app.time.words(app.world.last));
      return undefined;
    }
  }

  page.Live = Live;

  page.fetchData = async function () {
    const answer = await fetch("data", { cache: "no-store" });
    if (!answer.ok) throw new Error(`memories serve answered ${answer.status}`);
    return page.readWhole(await answer.json());
  };

  // The data is packed; each later piece goes on where the one before has ended.
  page.readWhole = function (packed) {
    page.unpacker = packed.strings ? new page.Unpacker() : null;
    return page.readMore(packed);
  };

  page.readMore = function (packed) {
    return page.unpacker ? page.unpacker.unpack(packed) : packed;
  };
})((globalThis.memoriesPage ||= {}));
