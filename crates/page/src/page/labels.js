// The names on the map. A name is written whole, at a size that can be read, or not at all: in its box, which may grow
// for it within its cell, else beside its box where nothing else stands. What has no room gets it when the reader zooms
// in.
(function (page) {
  "use strict";

  const LEADING = 1.14;
  // Sizes of letters in pixels, and of those beside a box.
  const SIZES = [12.5, 11.5];
  const BESIDE = 11.5;
  const NEAR = 15;
  // Boxes from this size on have signs, which take some of their room.
  const SIGNS = { width: 84, height: 44 };
  const ROOM_OF_SIGNS = { width: 16, height: 26 };
  const MARKS = { width: 15, height: 14 };
  // Words from so many letters on may be broken; shorter ones stay whole.
  const BREAKABLE = 15;
  const LINES_BESIDE = 3;
  const WIDTHS_BESIDE = [64, 96, 150];

  let ink = null;
  const widths = new Map();

  // The width of a text in pixels for letters of one pixel.
  function widthOf(text) {
    let width = widths.get(text);
    if (width === undefined) {
      ink ||= document.createElement("canvas").getContext("2d");
      ink.font = `500 20px ${getComputedStyle(document.body).fontFamily}`;
      width = ink.measureText(text).width / 20;
      widths.set(text, width);
    }
    return width;
  }

  // Words, and pieces of what is no word: names without spaces may end a line between any two letters.
  function pieces(name, most) {
    return name
      .split(/\s+|(?<=\p{L}-)(?=\p{L})/u)
      .filter(Boolean)
      .flatMap((word) => (widthOf(word) <= most ? [word] : broken(word, most)));
  }

  function broken(word, most) {
    const letters = [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment);
    const writesWords = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{P}\p{N}]+$/u.test(word);
    if (writesWords && letters.length < BREAKABLE) return [word];
    const parts = [];
    let width = Infinity;
    for (const letter of letters) {
      const own = widthOf(letter);
      if (width + own > most) {
        parts.push("");
        width = 0;
      }
      parts[parts.length - 1] += letter;
      width += own;
    }
    return parts;
  }

  // A name in at most so many lines of a width in pixels; null where it does not fit whole.
  function wrap(name, size, width, most) {
    const lines = [];
    const limit = width / size;
    if (most < 1 || widthOf(name) > limit * most) return null;
    for (const word of pieces(name, limit)) {
      const gap = /-$/.test(lines.at(-1) ?? "-") ? "" : " ";
      const joined = lines.length > 0 ? `${lines.at(-1)}${gap}${word}` : word;
      if (lines.length > 0 && widthOf(joined) <= limit) lines[lines.length - 1] = joined;
      else lines.push(word);
      if (lines.length > most || widthOf(lines.at(-1)) > limit) return null;
    }
    return lines.length > 0 ? lines : null;
  }

  function size(lines, font) {
    return { width: Math.max(...lines.map(widthOf)) * font, height: lines.length * font * LEADING };
  }

  // What stands on the drawing, in pixels, found by squares.
  class Taken {
    constructor(square) {
      this.square = square;
      this.squares = new Map();
    }

    *keys({ left, top, right, bottom }) {
      const at = (value) => Math.floor(value / this.square);
      for (let x = at(left); x <= at(right); x += 1) for (let y = at(top); y <= at(bottom); y += 1) yield `${x} ${y}`;
    }

    add(rect) {
      for (const key of this.keys(rect)) {
        if (!this.squares.has(key)) this.squares.set(key, []);
        this.squares.get(key).push(rect);
      }
    }

    meets(rect) {
      for (const key of this.keys(rect)) {
        for (const other of this.squares.get(key) || [])
          if (
            rect.left < other.right &&
            other.left < rect.right &&
            rect.top < other.bottom &&
            other.top < rect.bottom
          )
            return true;
      }
      return false;
    }
  }

  function around(x, y, width, height) {
    return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
  }

  // The name in its box, with the half sizes to which the box grows for it.
  function inside(name, { box, most, hasSigns }) {
    const room = hasSigns ? ROOM_OF_SIGNS : { width: 6, height: 3 };
    const sizes = hasSigns && box.width * 2 > 130 ? [NEAR, ...SIZES] : SIZES;
    // First as the box is, then as it may be.
    for (const font of sizes) {
      for (const half of [box, { ...box, width: most.width }, { width: box.width, height: most.height }, most]) {
        const lines = Math.floor((2 * half.height - room.height) / (font * LEADING));
        const found = wrap(name, font, 2 * half.width - room.width, lines);
        if (found) {
          const { width, height } = size(found, font);
          const grown = (own, need, limit) => Math.min(Math.max(own, need / 2), limit);
          return {
            lines: found,
            font,
            half: {
              width: grown(box.width, width + room.width, most.width),
              height: grown(box.height, height + room.height, most.height),
            },
          };
        }
      }
    }
    return null;
  }

  // The name beside its box: below, above, to the right, to the left, and at its corners.
  function beside(name, { x, y, half }, taken, bounds) {
    for (const most of WIDTHS_BESIDE) {
      const lines = wrap(name, BESIDE, most, LINES_BESIDE);
      if (!lines) continue;
      const { width, height } = size(lines, BESIDE);
      const [across, down] = [half.width + width / 2 + 3, half.height + height / 2 + 2];
      const slide = Math.max(0, (width - 2 * half.width) / 2);
      for (const [dx, dy] of [
        [0, down],
        [0, -down],
        [across, 0],
        [-across, 0],
        [slide, down],
        [-slide, down],
        [slide, -down],
        [-slide, -down],
        [slide + MARKS.width, -down],
        [-slide - MARKS.width, -down],
        [0, -down - MARKS.height],
      ]) {
        const rect = around(x + dx, y + dy, width + 2, height);
        const isWithin =
          rect.left >= bounds.left &&
          rect.right <= bounds.right &&
          rect.top >= bounds.top &&
          rect.bottom <= bounds.bottom;
        if (isWithin && !taken.meets(rect)) return { lines, font: BESIDE, dx, dy, rect };
      }
    }
    return null;
  }

  // The signs of the start and of the player at the upper corners of their boxes.
  function marks([start, here], scale) {
    const mark = (place, end) =>
      place && around(place.x * scale + end * place.half.width, place.y * scale - place.half.height - 4, MARKS.width, MARKS.height);
    return [mark(start, -1), mark(here, 1)].filter(Boolean);
  }

  // Gives each place the name that is written and the size of its box, for a scale. All of them are in pixels of the
  // screen. The first of the places have room first.
  page.placeLabels = function (places, grid, scale, { bounds, marked }) {
    const times = ({ width, height }) => ({ width: width * scale, height: height * scale });
    const [box, most] = [times(grid.box), times(grid.most)];
    const hasSigns = 2 * box.width >= SIGNS.width && 2 * box.height >= SIGNS.height;
    const taken = new Taken(Math.max(40, 2 * box.width));
    const left = [];
    for (const place of places) {
      const found = inside(place.text, { box, most, hasSigns });
      place.label = found && { ...found, dx: 0, dy: 0 };
      place.half = found ? found.half : box;
      taken.add(around(place.x * scale, place.y * scale, 2 * place.half.width + 2, 2 * place.half.height + 2));
      if (!found) left.push(place);
    }
    for (const mark of marks(marked, scale)) taken.add(mark);
    for (const place of left) {
      const at = { x: place.x * scale, y: place.y * scale, half: place.half };
      place.label = place.text === "" ? null : beside(place.text, at, taken, bounds);
      if (place.label) taken.add(place.label.rect);
    }
    return hasSigns;
  };

  page.LEADING = LEADING;
})((globalThis.memoriesPage ||= {}));
