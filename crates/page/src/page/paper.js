// Printing: the whole map, the numbers, the charts in light colours, and all sections of the step as a readable list.
(function (page) {
  "use strict";

  const { byId, element, data } = page;

  function sections(app) {
    const rows = [];
    for (const { section, facts } of app.world.standing(app.step)) {
      rows.push(
        element(
          "section",
          {},
          element(
            "h3",
            {},
            data(app.world.name(section, facts)),
            section.kind === "location" ? ` (id ${section.id})` : "",
          ),
          page.render.section(app, facts),
        ),
      );
    }
    return rows;
  }

  page.preparePaper = function (app) {
    addEventListener("beforeprint", () => {
      document.documentElement.classList.add("paper");
      byId("paper").replaceChildren(
        element("h2", { text: `All sections. ${app.time.words(app.step)}` }),
        ...sections(app),
      );
      app.map.print(true);
      page.redrawCharts();
    });
    addEventListener("afterprint", () => {
      document.documentElement.classList.remove("paper");
      byId("paper").replaceChildren();
      app.map.print(false);
      page.redrawCharts();
    });
  };
})((globalThis.memoriesPage ||= {}));
