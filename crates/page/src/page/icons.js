// The icons of the buttons, as lines within 20 by 20 units: fonts have not all of these signs.
(function (page) {
  "use strict";

  const ICONS = {
    first: ["M5 4v12", "M15 4l-7 6l7 6"],
    back: ["M12.5 4l-6 6l6 6"],
    next: ["M7.5 4l6 6l-6 6"],
    last: ["M15 4v12", "M5 4l7 6l-7 6"],
    play: ["*M6.5 4l9 6l-9 6z"],
    pause: ["M7 4.5v11", "M13 4.5v11"],
    close: ["M5 5l10 10", "M15 5l-10 10"],
    "zoom-in": ["M10 4v12", "M4 10h12"],
    "zoom-out": ["M4 10h12"],
    "zoom-fit": ["M4 7.5v-3.5h3.5", "M12.5 4h3.5v3.5", "M16 12.5v3.5h-3.5", "M7.5 16h-3.5v-3.5"],
    system: ["M10 3a7 7 0 1 0 0 14a7 7 0 1 0 0 -14z", "*M10 3a7 7 0 0 1 0 14z"],
    light: [
      "*M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0 -7z",
      "M10 2v1.5M10 16.5v1.5M2 10h1.5M16.5 10h1.5M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1 -1.1M14.6 5.4l1.1 -1.1",
    ],
    dark: ["*M16 12.3a6.5 6.5 0 1 1 -8.300 -8.300a5.300 5.300 0 0 0 8.300 8.300z"],
  };

  // A drawing beside the name that its button has; a star before a path fills it.
  page.icon = function (name) {
    const paths = ICONS[name].map((d) =>
      page.drawn("path", { d: d.replace("*", ""), class: d.startsWith("*") ? "full" : null }),
    );
    return page.drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, paths);
  };
})((globalThis.memoriesPage ||= {}));
