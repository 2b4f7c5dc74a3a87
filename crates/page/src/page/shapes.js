// Shapes of the map: sizes, names in lines, stubs, arrow heads. Pure: numbers and texts in, numbers and paths out.
(function (page) {
  "use strict";

  // A cell of the grid, and the part of it that the box of a place takes from the centre, in units of the drawing.
  // The shares are those of the layout (src/map/layout/route.rs), whose lines end at the boxes.
  const CELL = { width: 168, height: 106 };
  const HALF = { width: 0.36 * CELL.width, height: 0.3 * CELL.height };
  const STUB = 0.055;

  function centre(place) {
    return [place.x * CELL.width, place.y * CELL.height];
  }

  // The letters of a name without marks that pile up and without signs that turn the direction of writing.
  function plainName(name) {
    return name
      .replace(/[\p{Cc}\p{Bidi_Control}]/gu, " ")
      .replace(/(\p{M}{2})\p{M}+/gu, "$1")
      .trim();
  }

  function cut(text, length) {
    const letters = Array.from(text);
    return letters.length <= length ? text : `${letters.slice(0, Math.max(1, length - 1)).join("")}…`;
  }

  // About the width of a text in ems, of a plain font.
  function breadth(text) {
    let sum = 0;
    for (const letter of text)
      sum += /[iljrft.,'|!() I]/.test(letter)
        ? 0.36
        : /[mwMW@—…]|\P{ASCII}/u.test(letter)
          ? 0.95
          : /[A-Z]/.test(letter)
            ? 0.7
            : 0.56;
    return sum;
  }

  // A text that is at most so many ems wide; what is left out is an ellipsis.
  function fit(text, width) {
    if (breadth(text) <= width) return text;
    const letters = Array.from(text.slice(0, 200));
    while (letters.length > 1 && breadth(letters.join("")) > width - 0.8) letters.pop();
    return `${letters.join("")}…`;
  }

  // A name in at most `most` lines that are at most so many ems wide.
  function wrap(name, width, most) {
    const lines = [];
    for (const word of plainName(name)
      .slice(0, 400)
      .split(/\s+|(?<=\p{L}-)(?=\p{L})/u)
      .filter(Boolean)) {
      const gap = lines.at(-1)?.endsWith("-") ? "" : " ";
      const joined = lines.length > 0 ? `${lines.at(-1)}${gap}${word}` : word;
      if (lines.length > 0 && breadth(joined) <= width) lines[lines.length - 1] = joined;
      else lines.push(word);
    }
    const shown = lines.slice(0, most);
    if (lines.length > most) shown[most - 1] = `${shown[most - 1]} ${lines[most]}`;
    return shown.map((line) => fit(line, width));
  }

  // The point of a box's edge in a direction, and the unit step outwards, both in units of the drawing.
  function edge([dx, dy]) {
    return { x: dx * HALF.width, y: dy * HALF.height, outX: dx * STUB * CELL.width, outY: dy * STUB * CELL.width };
  }

  // A short line outwards, with a bar across its end where the direction was refused.
  function stub(direction, barred) {
    const { x, y, outX, outY } = edge(page.COMPASS[direction]);
    const line = `M${x} ${y}l${outX} ${outY}`;
    if (!barred) return line;
    const length = Math.hypot(outX, outY);
    const [barX, barY] = [(-outY / length) * 6, (outX / length) * 6];
    return `${line}m${barX} ${barY}l${-2 * barX} ${-2 * barY}`;
  }

  function linePath(points) {
    return points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x * CELL.width} ${y * CELL.height}`).join("");
  }

  // A head at the last of some points, as a closed path.
  function arrowHead(points) {
    const [[x0, y0], [x, y]] = points.slice(-2).map(([px, py]) => [px * CELL.width, py * CELL.height]);
    const length = Math.hypot(x - x0, y - y0) || 1;
    const [ux, uy] = [(x - x0) / length, (y - y0) / length];
    const [baseX, baseY] = [x - ux * 11, y - uy * 11];
    return `M${x} ${y}L${baseX - uy * 4.5} ${baseY + ux * 4.5}L${baseX + uy * 4.5} ${baseY - ux * 4.5}Z`;
  }

  // Rectangle around all places, with a margin, in units of the drawing.
  function extent(places) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const place of places) {
      const [x, y] = centre(place);
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    if (left > right) return { x: -CELL.width, y: -CELL.height, width: 2 * CELL.width, height: 2 * CELL.height };
    const [sideX, sideY] = [CELL.width * 0.6, CELL.height * 0.6];
    return { x: left - sideX, y: top - sideY, width: right - left + 2 * sideX, height: bottom - top + 2 * sideY };
  }

  page.shapes = { CELL, HALF, centre, wrap, cut, plainName, stub, linePath, arrowHead, extent };
})((globalThis.memoriesPage ||= {}));
