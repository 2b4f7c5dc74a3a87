// Charts by episode. The figures are those of `stats`, of the present.
// uPlot draws them; each has its figures as a table, too.
(function (page) {
  "use strict";

  const { byId, element, number, count } = page;
  const HEIGHT = 190;
  const LABELLED = 14;
  // Distances between marks of an axis that counts.
  const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((first) => first * 10 ** power));
  let drawn_charts = [];

  // The value of a colour of the style sheet as the canvas needs it, in the scheme that is shown now.
  function colour(name) {
    const probe = byId("probe");
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  }

  function table(head, rows) {
    return element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          head.map((text) => element("th", { scope: "col", text })),
        ),
      ),
      element(
        "tbody",
        {},
        rows.map((row) =>
          element(
            "tr",
            {},
            row.map((cell, index) =>
              index === 0 ? element("th", { scope: "row" }, page.data(cell)) : element("td", { text: cell }),
            ),
          ),
        ),
      ),
    );
  }

  function axis(extra) {
    return {
      stroke: colour("soft"),
      grid: { stroke: colour("line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
      gap: 6,
      ...extra,
    };
  }

  // Writes each bar's or point's value above it, while they are few.
  function labels(chart, series) {
    return (plot) => {
      if (plot.data[0].length > LABELLED || chart.quiet) return;
      const { ctx } = plot;
      ctx.save();
      ctx.font = `${11.5 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.fillStyle = colour("ink");
      ctx.textAlign = "center";
      plot.data[series].forEach((value, index) => {
        if (value === null || value === undefined) return;
        ctx.fillText(
          chart.format(value),
          plot.valToPos(plot.data[0][index], "x", true),
          plot.valToPos(value, "y", true) - 6 * devicePixelRatio,
        );
      });
      ctx.restore();
    };
  }

  function seriesOf(chart) {
    return chart.series.map(({ name, bars, tone, dash }) => {
      const stroke = colour(tone);
      if (bars)
        return {
          label: name,
          stroke,
          fill: stroke,
          width: 0,
          paths: uPlot.paths.bars({ size: [0.55, 56], radius: 0.12 }),
          points: { show: false },
        };
      return { label: name, stroke, width: 2, dash, spanGaps: true, points: { show: true, size: 7, fill: stroke } };
    });
  }

  function options(chart, width) {
    const ticks = chart.x;
    const room = (ticks.length - 1) * 0.05 + 0.5;
    const high = Math.max(0, ...chart.series.flatMap(({ values }) => values.filter((value) => value !== null)));
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      padding: [18, 8, 0, 0],
      scales: {
        x: { time: false, range: () => [ticks[0] - room, ticks.at(-1) + room] },
        y: { range: () => [0, high > 0 ? high * 1.12 : 1] },
      },
      axes: [
        axis({
          grid: { show: false },
          size: 30,
          splits: () => thinned(ticks, width),
          values: (_, splits) => splits.map((value) => chart.label?.(value) ?? String(value)),
        }),
        axis({
          size: 48,
          space: 42,
          ...(chart.format === number ? { incrs: WHOLE } : {}),
          values: (_, splits) => splits.map((value) => chart.format(value)),
        }),
      ],
      series: [{}, ...seriesOf(chart)],
      hooks: { draw: [labels(chart, chart.labelled || 1)] },
    };
  }

  function thinned(ticks, width) {
    const each = Math.ceil(ticks.length / Math.max(2, Math.floor(width / 44)));
    return ticks.filter((_, index) => index % each === 0);
  }

  function figureOf(chart) {
    const holder = element("div", { class: "plot", role: "img", "aria-label": `${chart.title}. ${chart.words}` });
    const legend =
      chart.series.length > 1
        ? element(
            "ul",
            { class: "legend" },
            chart.series.map(({ name, tone, dash }) =>
              element("li", { "data-tone": tone, class: dash ? "dashed" : "", text: name }),
            ),
          )
        : "";
    const head = [chart.across || "Episode", ...chart.series.map(({ name }) => name)];
    const rows = chart.x.map((x, index) => [
      chart.label?.(x) ?? String(x),
      ...chart.series.map(({ values }) => (values[index] === null ? "–" : chart.format(values[index]))),
    ]);
    const box = element(
      "figure",
      { class: "chart", "data-chart": chart.key },
      element(
        "figcaption",
        {},
        element("h3", { text: chart.title }),
        element("p", { class: "soft", text: chart.words }),
      ),
      holder,
      legend,
      element(
        "details",
        {},
        element("summary", { text: "As a table" }),
        element(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": `${chart.title}, as a table` },
          table(head, rows),
        ),
      ),
    );
    return { box, holder, chart };
  }

  function draw({ holder, chart }) {
    holder.replaceChildren();
    const width = holder.clientWidth;
    if (width === 0) return;
    new uPlot(options(chart, width), [chart.x, ...chart.series.map(({ values }) => values)], holder);
  }

  function byEpisode(stats) {
    const episodes = stats.by_episode;
    const x = episodes.map(({ episode }) => episode);
    const of = (read) => episodes.map((episode) => read(episode) ?? null);
    return [
      {
        key: "places",
        title: "Places",
        words: "Places visited in the episode, and those that have memories.",
        x,
        format: number,
        series: [
          { name: "visited", bars: true, tone: "chart-2", values: of((e) => e.coverage?.visited) },
          { name: "with memories", tone: "chart-4", values: of((e) => e.coverage?.with_memories) },
        ],
      },
      {
        key: "memories",
        title: "Memories",
        words: "Memories known after the episode, and those that it stored.",
        x,
        format: number,
        series: [
          { name: "known", bars: true, tone: "chart-3", values: of((e) => e.memories_total) },
          { name: "stored", tone: "chart-4", values: of((e) => e.stored) },
        ],
      },
      {
        key: "score",
        title: "Best score",
        words: "Highest score of the episode.",
        x,
        format: number,
        series: [{ name: "best score", bars: true, tone: "chart-2", values: of((e) => e.best_score) }],
      },
      milestones(episodes, x),
      ...modelUse(episodes, x, of),
    ];
  }

  // Calls and cost by episode, where a model was asked at all.
  function modelUse(episodes, x, of) {
    const isAsked = episodes.some((episode) => episode.model_calls > 0);
    if (!isAsked) return [];
    const bars = (name, values) => [{ name, bars: true, tone: "chart-3", values }];
    return [
      { key: "calls", title: "Model calls", words: "Requests to models about turns of the episode.", x, format: number,
        series: bars("calls", of((e) => e.model_calls)) },
      { key: "cost", title: "Cost", words: "US dollars that the providers named.", x, format: (cost) => cost.toFixed(3),
        series: bars("cost", of((e) => e.cost)) },
    ];
  }

  // Turns until a score was reached, for the scores that most episodes have in common.
  function milestones(episodes, x) {
    const reached = new Map();
    for (const { milestones: list } of episodes)
      for (const { score } of list) reached.set(score, (reached.get(score) || 0) + 1);
    const scores = [...reached]
      .filter(([, times]) => times > 1 || episodes.length === 1)
      .sort((one, other) => other[1] - one[1] || other[0] - one[0])
      .slice(0, 4)
      .map(([score]) => score)
      .sort((one, other) => one - other);
    const dashes = [undefined, [8, 4], [3, 3], [10, 3, 2, 3]];
    const series = scores.map((score, index) => ({
      name: `score ${score}`,
      tone: `chart-${index + 1}`,
      dash: dashes[index],
      values: episodes.map(({ milestones: list }) => list.find((milestone) => milestone.score === score)?.turn ?? null),
    }));
    return {
      key: "milestones",
      title: "Turns to each milestone",
      words: "The turn at which an episode reached a score. Less is better.",
      x,
      format: number,
      quiet: true,
      series,
    };
  }

  // How many places have a recall of so many tokens.
  function recallSizes(data) {
    const sizes = Object.values(data.recalls || {}).map(({ tokens }) => tokens);
    const most = Math.max(0, ...sizes);
    if (sizes.length < 3) return [];
    const wide = Math.max(10, Math.ceil(most / 8 / 10) * 10);
    const x = Array.from({ length: Math.floor(most / wide) + 1 }, (_, index) => index);
    const values = x.map((bin) => sizes.filter((size) => Math.floor(size / wide) === bin).length);
    const recall = data.stats.recall_tokens;
    return [
      {
        key: "tokens",
        title: "Tokens a recall",
        words: recall
          ? `How many recalls of the present have this size. Places: median ${number(recall.p50)}, at most ${number(recall.max)}.`
          : "",
        across: "Tokens",
        label: (bin) => String(bin * wide),
        x,
        format: number,
        series: [{ name: "recalls", bars: true, tone: "chart-3", values }],
      },
    ];
  }

  function models(stats) {
    const rows = stats.models.map((model) => [
      model.name,
      number(model.questions),
      number(model.calls),
      number(model.failed),
      number(model.input_tokens),
      number(model.output_tokens),
      model.cost.toFixed(4),
    ]);
    if (rows.length === 0) return "";
    return element(
      "figure",
      { class: "chart wide" },
      element(
        "figcaption",
        {},
        element("h3", { text: "Model calls and cost" }),
        element("p", { class: "soft", text: "All episodes together." }),
      ),
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Model calls and cost" },
        table(["Model", "Questions", "Calls", "Failed", "Tokens in", "Tokens out", "Cost"], rows),
      ),
    );
  }

  page.showCharts = function (data) {
    const { stats } = data;
    const charts = [...(stats.by_episode.length > 0 ? byEpisode(stats) : []), ...recallSizes(data)].filter(
      ({ series }) => series.some(({ values }) => values.some((value) => value !== null)),
    );
    const open = new Set(
      drawn_charts.filter(({ box }) => box.querySelector("details").open).map(({ chart }) => chart.key),
    );
    drawn_charts = charts.map(figureOf);
    for (const { box, chart } of drawn_charts) box.querySelector("details").open = open.has(chart.key);
    const empty =
      charts.length === 0 ? element("p", { class: "soft", text: "No episodes recorded yet: nothing to chart." }) : "";
    byId("effect-words").textContent =
      stats.play.recorded > 0 ? `${count(stats.play.recorded, "turn")} recorded.` : "";
    byId("charts").replaceChildren(...drawn_charts.map(({ box }) => box), empty, models(stats));
    drawn_charts.forEach(draw);
  };

  page.redrawCharts = function () {
    drawn_charts.forEach(draw);
  };
})((globalThis.memoriesPage ||= {}));
