// Editing on a served page: a person adds, rewords, confirms and strikes memories, and undoes the last change. The file
// is written by the program; the page shows it when the change comes back as an event.
(function (page) {
  "use strict";

  const { byId, element } = page;
  const CATEGORIES = ["NOTE", "DISCOVERY", "SUCCESS", "FAILURE", "DANGER"];
  let numbered = 0;

  function field(label, input, note) {
    const id = `field-${(numbered += 1)}`;
    input.id = id;
    return element(
      "p",
      { class: "field" },
      element("label", { for: id, text: label }),
      input,
      note ? element("span", { class: "soft", text: note }) : "",
    );
  }

  function text(name, value, extra = {}) {
    const input = element("input", { type: "text", name, required: true, autocomplete: "off", ...extra });
    input.value = value;
    return input;
  }

  function area(name, value) {
    const input = element("textarea", { name, rows: 4 });
    input.value = value;
    return input;
  }

  function category(value) {
    const names = CATEGORIES.includes(value) ? CATEGORIES : [value, ...CATEGORIES];
    const select = element(
      "select",
      { name: "category" },
      names.map((name) => element("option", { value: name, text: page.shapes.cut(name, 40) })),
    );
    select.value = value;
    return select;
  }

  class Edit {
    constructor(app) {
      this.app = app;
      byId("undo").addEventListener("click", () => this.undo());
    }

    // The buttons below a memory.
    tools(scope, part) {
      if (part.status === "superseded") return "";
      const box = element("div", { class: "tools" });
      const open = (make) => () => box.replaceChildren(make());
      const button = (name, action) =>
        element("button", {
          type: "button",
          class: "small",
          text: name,
          "aria-label": `${name}: ${part.title}`,
          on: { click: action },
        });
      const shut = () => box.replaceChildren(...buttons);
      const buttons = [
        button(
          "Reword",
          open(() => this.rewording(scope, part, shut)),
        ),
        button("Confirm", () => this.send({ do: "confirm", scope, title: part.title }, box)),
        button(
          "Strike",
          open(() => this.striking(scope, part, shut)),
        ),
      ];
      box.append(...buttons);
      return box;
    }

    rewording(scope, part, shut) {
      return this.form(
        "Reword",
        shut,
        [
          field("Title", text("new_title", part.title)),
          field("Text", area("text", part.text)),
          field("Category", category(part.category)),
        ],
        (values) => ({ do: "reword", scope, title: part.title, ...values }),
      );
    }

    striking(scope, part, shut) {
      return this.form(
        "Strike",
        shut,
        [field("Reason", text("reason", ""), "It stays in the file, struck out.")],
        (values) => ({ do: "strike", scope, title: part.title, ...values }),
      );
    }

    // The button and form for a new memory of a section.
    adding(scope) {
      const box = element("div", { class: "tools add" });
      const button = element("button", { type: "button", class: "small", text: "Add a memory" });
      const shut = () => box.replaceChildren(button);
      button.addEventListener("click", () => {
        const importance = element("input", { type: "number", name: "importance", min: 0, max: 1000, step: 50 });
        importance.value = "500";
        const form = this.form(
          "Add",
          shut,
          [
            field("Title", text("title", "")),
            field("Text", area("text", "")),
            field("Category", category("NOTE")),
            field("Importance", importance, "0 to 1000"),
          ],
          (values) => ({ do: "add", scope, ...values, importance: Number(values.importance) }),
        );
        box.replaceChildren(form);
        form.querySelector("input").focus();
      });
      shut();
      return box;
    }

    form(name, shut, fields, request) {
      const cancel = element("button", { type: "button", class: "small", text: "Cancel", on: { click: shut } });
      const form = element(
        "form",
        { class: "edit", "aria-label": name },
        fields,
        element(
          "p",
          { class: "buttons" },
          element("button", { type: "submit", class: "small main", text: name }),
          cancel,
        ),
      );
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const done = await this.send(request(Object.fromEntries(new FormData(form))), form);
        if (done) this.app.panel.changed(true);
      });
      form.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        shut();
      });
      queueMicrotask(() => form.querySelector("input")?.focus());
      return form;
    }

    // Sends a request; the answer's error stands beside the form. Tells if it was done.
    async send(request, beside) {
      let answer;
      try {
        const response = await fetch("edit", {
          method: "POST",
          headers: { "Content-Type": "application/json", "X-Memories-Token": page.token() },
          body: JSON.stringify(request),
        });
        answer = await response.json();
        if (!response.ok && !answer.error) answer.error = `the server answered ${response.status}`;
      } catch (error) {
        answer = { error: "the server did not answer", hint: "is `memories serve` still running?" };
      }
      beside?.querySelector(":scope > .error")?.remove();
      if (answer.error) {
        const shown = element(
          "div",
          { class: "error", role: "alert" },
          element("p", {}, page.data(answer.error)),
          answer.hint ? element("p", { class: "hint" }, "Hint: ", page.data(answer.hint)) : "",
        );
        if (beside) beside.append(shown);
        else this.app.notice(`${answer.error}${answer.hint ? `. Hint: ${answer.hint}` : ""}`);
        return false;
      }
      this.app.notice(answer.message || "Done.");
      byId("undo").hidden = request.do === "undo";
      return true;
    }

    undo() {
      return this.send({ do: "undo" }, null);
    }
  }

  page.Edit = Edit;

  // The token of the server. The address that leads to the page has it behind its `#`, which no browser sends. It stays in
  // this tab, and no page of another port reads it.
  page.token = function () {
    const [, token] = /^#token=(.+)$/.exec(location.hash) || [];
    if (token) {
      sessionStorage.setItem("token", decodeURIComponent(token));
      history.replaceState(null, "", location.pathname);
    }
    return sessionStorage.getItem("token");
  };
})((globalThis.memoriesPage ||= {}));
