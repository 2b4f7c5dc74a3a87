// Elements, numbers and dates. All text of memories enters the page here, as text nodes: nothing here reads markup.
(function (page) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, properties, children) {
    for (const [name, value] of Object.entries(properties)) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
      else if (name === "text") node.textContent = value;
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity))
      if (child !== null && child !== undefined && child !== false) node.append(child);
    return node;
  }

  // An element with attributes, listeners (`on`) and children. Names are of the page; texts may be of memories.
  function element(name, properties = {}, ...children) {
    return fill(document.createElement(name), properties, children);
  }

  function drawn(name, properties = {}, ...children) {
    return fill(document.createElementNS(SVG, name), properties, children);
  }

  function byId(id) {
    return document.getElementById(id);
  }

  // A button that looks like text and does one thing.
  function link(text, action, label) {
    return element("button", { type: "button", class: "link", "aria-label": label, on: { click: action } }, data(text));
  }

  // Text of memories within a line, apart from the direction in which the line around it is written.
  function data(text) {
    return element("bdi", { text });
  }

  // A longer text; what stands between backticks is code.
  function prose(text) {
    const parts = text.split(/`([^`\n]{1,200})`/);
    return element(
      "bdi",
      {},
      parts.map((part, index) => (index % 2 === 1 ? element("code", { text: part }) : part)),
    );
  }

  function number(value) {
    return Number(value).toLocaleString("en", { maximumFractionDigits: 2 });
  }

  function count(value, one, many = `${one}s`) {
    return `${number(value)} ${value === 1 ? one : many}`;
  }

  // A moment as the reader's clock tells it; text that is no moment stays as it is.
  function moment(text) {
    const date = new Date(text);
    return Number.isNaN(date.getTime())
      ? String(text)
      : date.toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  }

  // The text in lower case, without accents and marks, as words with one space before each: for searching.
  function words(text) {
    const plain = text
      .normalize("NFKD")
      .replace(/\p{M}+/gu, "")
      .toLowerCase();
    return (
      " " +
      plain
        .split(/[^\p{L}\p{N}]+/u)
        .filter(Boolean)
        .join(" ")
    );
  }

  let saying = 0;

  // Tells a screen reader what has changed. Of many calls in a row the last one is said.
  function say(text) {
    clearTimeout(saying);
    saying = setTimeout(() => {
      byId("says").textContent = text;
    }, 350);
  }

  function calm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // A list of many rows: as many as `page_size` at first, and a button for more.
  function longList(rows, render, page_size = 60) {
    const list = element("ol", { class: "rows" });
    const box = element("div", {}, list);
    const more = element("button", { type: "button", class: "more" });
    let shown = 0;
    function show() {
      const next = rows.slice(shown, shown + page_size).map((row) => element("li", {}, render(row)));
      list.append(...next);
      shown += next.length;
      if (shown < rows.length) more.textContent = `Show more (${number(rows.length - shown)} left)`;
      else more.remove();
      return next[0];
    }
    more.addEventListener("click", () => {
      const first = show();
      if (first) first.querySelector("button")?.focus();
    });
    if (rows.length > page_size) box.append(more);
    show();
    return box;
  }

  Object.assign(page, {
    element,
    drawn,
    byId,
    link,
    data,
    prose,
    number,
    count,
    moment,
    words,
    say,
    calm,
    longList,
  });
})((globalThis.memoriesPage ||= {}));
