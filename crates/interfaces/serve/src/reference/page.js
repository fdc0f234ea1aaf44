// The reference of the API: every operation of openapi.json with its parameters, its body and its answers. It asks no
// other host, and puts nothing into the page as HTML.

const METHODS = ["get", "post", "put", "patch", "delete"];
const DEEPEST = 6;

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** The schema behind a reference. */
function resolved(document, schema) {
  let found = schema;
  for (let step = 0; found?.$ref && step < DEEPEST; step++) {
    found = found.$ref.slice(2).split("/").reduce((part, key) => part?.[key], document);
  }
  return found ?? {};
}

/** A schema as a short text: `{ "name": string, … }`. */
function shape(document, schema, depth = 0) {
  const found = resolved(document, schema);
  const indent = "  ".repeat(depth + 1);
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = found.oneOf ?? found.anyOf;
  if (choices) return choices.map((choice) => shape(document, choice, depth)).join(" | ");
  const kinds = [found.type ?? "any"].flat();
  if (depth > DEEPEST) return kinds.join(" | ");
  if (kinds.includes("array")) return `[${shape(document, found.items ?? {}, depth)}]`;
  if (!found.properties) return kinds.join(" | ");
  const required = new Set(found.required ?? []);
  const lines = Object.entries(found.properties).map(([name, field]) => {
    const text = resolved(document, field).description ?? field.description;
    const comment = text ? `  // ${text.split("\n")[0]}` : "";
    return `${indent}${name}${required.has(name) ? "" : "?"}: ${shape(document, field, depth + 1)},${comment}`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

function parameters(document, operation) {
  const rows = (operation.parameters ?? []).map((parameter) =>
    element(
      "tr",
      element("td", element("code", parameter.name)),
      element("td", parameter.in + (parameter.required ? ", required" : "")),
      element("td", element("code", shape(document, parameter.schema))),
      element("td", parameter.description ?? ""),
    ),
  );
  return rows.length ? [element("h4", "Parameters"), element("table", ...rows)] : [];
}

function content(document, title, part) {
  const kinds = Object.entries(part?.content ?? {});
  return kinds.flatMap(([kind, { schema }]) => [
    element("h4", `${title} (${kind})`),
    element("pre", shape(document, schema)),
  ]);
}

function described(document, path, method, operation) {
  const summary = element(
    "summary",
    element("code", method.toUpperCase()),
    element("code", path),
    element("span", operation.summary ?? ""),
  );
  const details = element("details", summary);
  details.dataset.text = `${method} ${path} ${operation.summary ?? ""}`.toLowerCase();
  // Most are never opened.
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    details.append(...parameters(document, operation), ...content(document, "Body", operation.requestBody));
    for (const [status, told] of Object.entries(operation.responses ?? {})) {
      const response = resolved(document, told);
      // What stands elsewhere is a refusal, and each of them is a problem.
      const answer = told.$ref ? [] : content(document, `Answer ${status}`, response);
      details.append(...(answer.length ? answer : [element("h4", `Answer ${status}: ${response.description}`)]));
    }
  });
  return details;
}

async function start() {
  const main = document.getElementById("operations");
  // The key that this browser's link left for pages of this address.
  const headers = { "Backstory-Key": localStorage.getItem("backstory-key") ?? "" };
  const answer = await fetch("/api/v1/openapi.json", { headers });
  if (!answer.ok) {
    main.replaceChildren(element("p", `The description cannot be read: ${answer.status}`));
    return;
  }
  const api = await answer.json();
  const all = Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => described(api, path, method, item[method])),
  );
  main.replaceChildren(...all);
  document.getElementById("find").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const one of all) one.hidden = !words.every((word) => one.dataset.text.includes(word));
  });
}

start();
