// Zoom and pan: the part of the drawing that is seen. It moves by buttons, wheel, pinch and drag, and tells who draws.
(function (page) {
  "use strict";

  // Zoomed in most, a cell is so many times as large as one that can be read.
  const CLOSEST = 1.7;
  // Space in pixels between a place that is revealed and the edge.
  const EDGE = 14;

  class Camera {
    constructor(svg, changed) {
      this.svg = svg;
      this.changed = changed;
      this.view = { x: 0, y: 0, width: 1000, height: 600 };
      this.all = this.view;
      this.cell = { width: 100, height: 50 };
      this.near = 1;
      this.whole = false;
      this.size = { width: 1000, height: 600 };
      this.pointers = new Map();
      this.measure();
      new ResizeObserver(() => this.resized()).observe(svg);
      this.listen();
    }

    // Takes the size of another drawing.
    take({ all, cell, near }) {
      Object.assign(this, { all, cell, near });
    }

    // While it is still, as on paper, the view stays whatever the size.
    hold(view) {
      this.still = view !== null;
      if (view) this.svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
      else this.set(this.view);
    }

    // Pixels of the screen for each unit of the drawing.
    get scale() {
      return this.size.width / this.view.width;
    }

    measure() {
      const { clientWidth, clientHeight } = this.svg;
      if (clientWidth > 0 && clientHeight > 0)
        this.size = { width: clientWidth, height: clientHeight };
    }

    resized() {
      if (this.still) return;
      const { x, y, width, height } = this.view;
      const { scale, size } = this;
      this.measure();
      if (size.width === this.size.width && size.height === this.size.height) return;
      if (this.whole) return this.refit();
      const next = { width: this.size.width / scale, height: this.size.height / scale };
      this.set({ x: x + (width - next.width) / 2, y: y + (height - next.height) / 2, ...next });
    }

    set(view) {
      this.view = view;
      this.whole = false;
      const { x, y, width, height } = view;
      this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
      this.changed();
    }

    // A view of the given scale around a point.
    centreOn([x, y], scale = this.scale) {
      const [width, height] = [this.size.width / scale, this.size.height / scale];
      this.set({ x: x - width / 2, y: y - height / 2, width, height });
    }

    fitScale() {
      const { size, all } = this;
      return Math.min(size.width / all.width, size.height / all.height, 1);
    }

    // Shows all, and goes on to do so when the size changes.
    fit() {
      const { all } = this;
      this.centreOn([all.x + all.width / 2, all.y + all.height / 2], this.fitScale());
      this.whole = true;
    }

    // What may be drawn on, in pixels at a scale: all of the drawing, and what a screen shows beside it.
    bounds(scale) {
      const { all, size } = this;
      const [x, y] = [(all.x + all.width / 2) * scale, (all.y + all.height / 2) * scale];
      const [width, height] = [Math.max(all.width * scale, size.width), Math.max(all.height * scale, size.height)];
      return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
    }

    // Moves no further than is needed to see a place well, and comes near where it would be a dot.
    reveal([x, y]) {
      const { view, scale, cell } = this;
      if (cell.width * scale < 12) return this.centreOn([x, y], this.near);
      const sides = [cell.width / 2 + EDGE / scale, cell.height / 2 + EDGE / scale];
      const [sideX, sideY] = [Math.min(sides[0], view.width * 0.4), Math.min(sides[1], view.height * 0.4)];
      const nextX = Math.min(Math.max(view.x, x + sideX - view.width), x - sideX);
      const nextY = Math.min(Math.max(view.y, y + sideY - view.height), y - sideY);
      if (!this.whole && (nextX !== view.x || nextY !== view.y)) this.set({ ...view, x: nextX, y: nextY });
    }

    // Zooms by a factor around a point of the screen, given within the drawing's element.
    zoom(factor, at = [this.size.width / 2, this.size.height / 2]) {
      const scale = Math.min(this.near * CLOSEST, Math.max(this.fitScale() * 0.8, this.scale * factor));
      const [x, y] = this.toDrawing(at);
      const [width, height] = [this.size.width / scale, this.size.height / scale];
      this.set({ x: x - at[0] / scale, y: y - at[1] / scale, width, height });
    }

    pan(dx, dy) {
      const { view, scale, all } = this;
      const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
      const x = clamp(view.x - dx / scale, all.x - view.width * 0.8, all.x + all.width - view.width * 0.2);
      const y = clamp(view.y - dy / scale, all.y - view.height * 0.8, all.y + all.height - view.height * 0.2);
      this.set({ ...view, x, y });
    }

    toDrawing([x, y]) {
      return [this.view.x + x / this.scale, this.view.y + y / this.scale];
    }

    listen() {
      const { svg } = this;
      svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      svg.addEventListener("pointerdown", (event) => this.down(event));
      svg.addEventListener("pointermove", (event) => this.drag(event));
      for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
        svg.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
      }
      svg.addEventListener("dblclick", (event) => this.zoom(1.5, this.within(event)));
    }

    // The page scrolls as ever, unless the reader works on the map: it has the focus, or Ctrl is down, as in a pinch.
    wheel(event) {
      if (!event.ctrlKey && !event.metaKey && !this.svg.contains(document.activeElement)) return;
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)), this.within(event));
    }

    down(event) {
      if (event.button !== 0) return;
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
      this.moved = 0;
    }

    drag(event) {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = [event.clientX, event.clientY];
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      this.pointers.set(event.pointerId, now);
      this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (this.moved > 4 && !this.svg.hasPointerCapture(event.pointerId)) this.svg.setPointerCapture(event.pointerId);
      if (others.length === 0) return this.pan(now[0] - before[0], now[1] - before[1]);
      const [other] = others;
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      this.zoom(
        apart(now) / apart(before),
        this.within({ clientX: (now[0] + other[0]) / 2, clientY: (now[1] + other[1]) / 2 }),
      );
    }

    // A click that ends a drag is none.
    get dragged() {
      return this.moved > 4;
    }

    within(event) {
      const box = this.svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }
  }

  page.Camera = Camera;
})((globalThis.memoriesPage ||= {}));
