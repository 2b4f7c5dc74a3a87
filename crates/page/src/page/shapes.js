// Shapes of the map: the grid of cells, stubs, arrow heads. Pure: numbers and texts in, numbers and paths out.
(function (page) {
  "use strict";

  // The part of a cell that the box of a place takes from the centre. The shares are those of the layout
  // (crates/world/src/layout/route.rs), whose lines end at the boxes. A box may grow to the greater part for its name.
  const BOX = { width: 0.36, height: 0.3 };
  const GROWN = { width: 0.47, height: 0.44 };
  // A row or column without places, as a part of one with places.
  const EMPTY = 0.45;
  // Sizes of cells in pixels: no larger at first, no smaller while all of the map is to be in sight, and well readable.
  const LARGEST = { width: 230, height: 112 };
  const SMALLEST = { width: 5, height: 5 };
  const READABLE = { width: 132, height: 66 };
  // A cell has at most so much width for its height, and at least so much.
  const WIDEST = 3.2;
  const NARROWEST = 0.6;
  const MARGIN = 8;

  // Where the columns, or the rows, of a map begin, in cells.
  class Axis {
    constructor(numbers) {
      const used = new Set(numbers.length > 0 ? numbers : [0]);
      const [first, last] = minmax([...used]);
      this.first = first;
      this.starts = [0];
      for (let number = this.first; number <= last; number += 1)
        this.starts.push(this.starts.at(-1) + (used.has(number) ? 1 : EMPTY));
    }

    get length() {
      return this.starts.at(-1);
    }

    at(value) {
      const number = Math.min(Math.max(Math.round(value) - this.first, 0), this.starts.length - 2);
      const width = this.starts[number + 1] - this.starts[number];
      return this.starts[number] + (value - this.first - number + 0.5) * width;
    }
  }

  function minmax(numbers) {
    return numbers.reduce(([least, most], number) => [Math.min(least, number), Math.max(most, number)], [
      Infinity,
      -Infinity,
    ]);
  }

  // The cells of a map on a drawing of some pixels. All of the drawing is in sight at the scale 1 if `whole`.
  class Grid {
    constructor(places, { width, height }) {
      this.columns = new Axis(places.map(({ x }) => x));
      this.rows = new Axis(places.map(({ y }) => y));
      const cell = {
        width: Math.min((width - 2 * MARGIN) / this.columns.length, LARGEST.width),
        height: Math.min((height - 2 * MARGIN) / this.rows.length, LARGEST.height),
      };
      this.whole = cell.width >= SMALLEST.width && cell.height >= SMALLEST.height;
      if (!this.whole) Object.assign(cell, READABLE);
      cell.width = Math.min(cell.width, cell.height * WIDEST);
      cell.height = Math.min(cell.height, cell.width / NARROWEST);
      this.cell = cell;
      this.box = { width: BOX.width * cell.width, height: BOX.height * cell.height };
      // The scale at which each name can be read.
      this.near = Math.max(1, READABLE.width / cell.width, READABLE.height / cell.height);
      this.all = {
        x: -MARGIN,
        y: -MARGIN,
        width: this.columns.length * cell.width + 2 * MARGIN,
        height: this.rows.length * cell.height + 2 * MARGIN,
      };
    }

    // How well names can be read, to compare the layouts of one map.
    get legible() {
      return Math.min(this.cell.width / 84, this.cell.height / 36);
    }

    // Half the width and height that a box may grow to.
    get most() {
      return { width: GROWN.width * this.cell.width, height: GROWN.height * this.cell.height };
    }

    point([x, y]) {
      return [this.columns.at(x) * this.cell.width, this.rows.at(y) * this.cell.height];
    }

    // The rectangle of cells, in units of the drawing.
    area({ x, y, width, height }) {
      const [left, top] = this.point([x - 0.49, y - 0.49]);
      const [right, bottom] = this.point([x + width - 0.51, y + height - 0.51]);
      return { x: left, y: top, width: right - left, height: bottom - top };
    }

    line(points) {
      return points.map((point) => this.point(point));
    }
  }

  // The letters of a name without marks that pile up and without signs that turn the direction of writing.
  function plainName(name) {
    return name
      .slice(0, 400)
      .replace(/[\p{Cc}\p{Bidi_Control}]/gu, " ")
      .replace(/(\p{M}{2})\p{M}+/gu, "$1")
      .trim();
  }

  function cut(text, length) {
    const letters = Array.from(text);
    return letters.length <= length ? text : `${letters.slice(0, Math.max(1, length - 1)).join("")}…`;
  }

  // A short line outwards from the edge of a box, with a bar across its end where the direction was refused.
  function stub(half, direction, length, barred) {
    const [dx, dy] = page.COMPASS[direction];
    const part = length / Math.hypot(dx, dy);
    const line = `M${dx * half.width} ${dy * half.height}l${dx * part} ${dy * part}`;
    if (!barred) return line;
    const bar = (length * 0.6) / Math.hypot(dx, dy);
    return `${line}m${-dy * bar} ${dx * bar}l${2 * dy * bar} ${-2 * dx * bar}`;
  }

  // A line without what a box covers of its end.
  function clipped(points, { x, y }, half) {
    const inside = ([px, py]) => Math.abs(px - x) < half.width && Math.abs(py - y) < half.height;
    const line = points.slice();
    while (line.length > 2 && inside(line.at(-2))) line.pop();
    const [[fromX, fromY], [toX, toY]] = line.slice(-2);
    if (!inside([toX, toY]) || inside([fromX, fromY])) return line;
    const share = (from, to, middle, most) => (from === to ? 0 : (middle + Math.sign(from - to) * most - from) / (to - from));
    const part = Math.max(share(fromX, toX, x, half.width), share(fromY, toY, y, half.height), 0);
    line[line.length - 1] = [fromX + (toX - fromX) * part, fromY + (toY - fromY) * part];
    return line;
  }

  function linePath(points) {
    return points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
  }

  // A head at the last of some points, as a closed path.
  function arrowHead(points, size) {
    const [[x0, y0], [x, y]] = points.slice(-2);
    const length = Math.hypot(x - x0, y - y0) || 1;
    const [ux, uy] = [((x - x0) / length) * size, ((y - y0) / length) * size];
    const [baseX, baseY] = [x - ux, y - uy];
    return `M${x} ${y}L${baseX - uy * 0.4} ${baseY + ux * 0.4}L${baseX + uy * 0.4} ${baseY - ux * 0.4}Z`;
  }

  page.shapes = { Grid, cut, plainName, stub, clipped, linePath, arrowHead };
})((globalThis.memoriesPage ||= {}));
