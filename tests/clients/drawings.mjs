// Reads drawings as Graphviz and Mermaid do. On stdin {"modules", "dot", "mermaid"}, the first a folder; on
// stdout {"dot": the SVG, "mermaid": {"places": {node: label}, "lines": [[from, to, label]]}}.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { text } from "node:stream/consumers";

const { modules, dot, mermaid: flowchart } = JSON.parse(await text(process.stdin));
const require = createRequire(pathToFileURL(`${modules}/`));
const load = (name) => import(pathToFileURL(require.resolve(name)));

async function drawDot() {
  const viz = await (await load("@viz-js/viz")).instance();
  const { status, output, errors } = viz.render(dot, { format: "svg" });
  // Its built-in fonts lack some characters; nothing else may be wrong.
  const faults = errors.filter(({ message }) => !message.includes("no value for width"));
  if (status !== "success" || faults.length > 0) throw new Error(`Graphviz: ${JSON.stringify(faults)}`);
  return output;
}

async function readMermaid() {
  const { JSDOM } = await load("jsdom");
  const { window } = new JSDOM("<body></body>");
  Object.assign(globalThis, { window, document: window.document });
  const { default: mermaid } = await load("mermaid/dist/mermaid.core.mjs");
  await mermaid.parse(flowchart);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(flowchart);
  // Mermaid keeps entities in a form of its own until it draws them.
  const decoded = (label) =>
    label
      .replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)))
      .replace(/ﬂ°(\w+)¶ß/g, (_, name) => {
        throw new Error(`the entity ${name}`);
      });
  return {
    places: Object.fromEntries([...db.getVertices().values()].map(({ id, text }) => [id, decoded(text)])),
    lines: db.getEdges().map(({ start, end, text }) => [start, end, decoded(text)]),
  };
}

console.log(JSON.stringify({ dot: await drawDot(), mermaid: await readMermaid() }));
