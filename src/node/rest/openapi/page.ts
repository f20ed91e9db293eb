import type { Route } from "../routes.ts";
import { formatTemplate } from "../template.ts";
import { parametersOf, summaryOf, tagOf } from "./document.ts";

/** The page that lists all routes, each with a form that queries this node. It loads nothing from elsewhere. */
export function routesPage(routes: readonly Route[], chainId: string): string {
  const title = `REST of ${escapeHtml(chainId)}`;
  const tags = [...new Set(routes.map(tagOf))].sort();
  const parts = tags.map((tag) => {
    const rows = routes.filter((route) => tagOf(route) === tag).map(routeRow);
    return `<h2>${escapeHtml(tag)}</h2>\n${rows.join("\n")}`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="stylesheet" href="/openapi.css">
<script src="/openapi.js" defer></script>
</head>
<body>
<h1>${title}</h1>
<p>For programs: <a href="/openapi.json">openapi.json</a>. Paths under <code>/sdk</code> are also served under <code>/cosmos</code>.</p>
${parts.join("\n")}
</body>
</html>
`;
}

function routeRow(route: Route): string {
  const path = formatTemplate(route.steps);
  const inputs = parametersOf(route)
    .filter((each) => each.in !== "header")
    .map((each) => inputRow(String(each.name), String(each.in)));
  const body = route.body === "" ? "" : `<label>body <textarea name="body" rows="4">{}</textarea></label>`;
  return `<details><summary><b>${route.verb}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(summaryOf(route))}</summary>
<form data-verb="${route.verb}" data-path="${escapeHtml(path)}">
${inputs.join("\n")}${body}
<button>Ask</button>
<pre></pre>
</form></details>`;
}

function inputRow(name: string, place: string): string {
  const required = place === "path" ? " required" : "";
  return `<label>${escapeHtml(name)} <input name="${escapeHtml(name)}" data-in="${place}"${required}></label>`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? "");
}

export const PAGE_STYLE = `body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
summary { cursor: pointer; }
form { margin: .5rem 0 1rem 1rem; }
label { display: block; }
input, textarea { font: inherit; width: 24rem; }
pre { overflow: auto; max-height: 24rem; background: #8881; padding: .5rem; }
pre:empty { display: none; }
`;

export const PAGE_SCRIPT = `for (const form of document.forms) form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { verb, path } = form.dataset;
  let target = path;
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("input")) {
    if (input.dataset.in === "path") target = target.replace("{" + input.name + "}", encodeURIComponent(input.value));
    else if (input.value !== "") query.append(input.name, input.value);
  }
  const text = query.size === 0 ? target : target + "?" + query;
  const init = form.elements.body === undefined ? {} : { body: form.elements.body.value };
  const output = form.querySelector("pre");
  output.textContent = "...";
  try {
    const response = await fetch(text, { method: verb, ...init });
    output.textContent = verb + " " + text + "\\n" + response.status + "\\n" + (await response.text());
  } catch (error) {
    output.textContent = String(error);
  }
});
`;
