import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { MetricRegistry } from "./registry.ts";
import { COUNTERS, DURATIONS, GAUGES } from "./table.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/operations");
const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8");

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}
interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly annotations: object }[];
  }[];
}

/** Labels that Prometheus adds, and the label of histograms. */
const OUTER_LABELS = ["job", "instance", "le"];
/** Made by Prometheus for every target. */
const OUTER_METRICS = ["up"];
const WORDS = /^(and|or|unless|by|without|on|ignoring|group_left|group_right|bool|offset)$/;

/** Names of metrics, and of labels with their values, in an expression. */
function namesOf(expr: string): { metrics: string[]; labels: string[]; values: [string, string][] } {
  const labels: string[] = [];
  const values: [string, string][] = [];
  const bare = expr
    .replaceAll(/\{([^}]*)\}/g, (_, inner: string) => {
      for (const [, label = "", value = ""] of inner.matchAll(/(\w+)\s*[=!]~?\s*"([^"]*)"/g)) {
        labels.push(label);
        if (!value.startsWith("$")) values.push([label, value]);
      }
      return "";
    })
    .replaceAll(/\b(?:by|without)\s*\(([^)]*)\)/g, (_, inner: string) => {
      labels.push(...inner.split(",").map((each) => each.trim()));
      return "";
    })
    .replaceAll(/\[[^\]]*\]/g, "");
  const words = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)].map(([word]) => word);
  return { metrics: words.filter((word) => !WORDS.test(word)), labels, values };
}

const rows = Object.values({ ...COUNTERS, ...DURATIONS, ...GAUGES });

async function knownNames(): Promise<Set<string>> {
  const process = (await new MetricRegistry().text([])).matchAll(/^# TYPE (\S+)/gm);
  const histograms = Object.values(DURATIONS).flatMap(({ name }) => [`${name}_bucket`, `${name}_sum`, `${name}_count`]);
  return new Set([
    ...rows.map(({ name }) => name),
    ...histograms,
    ...[...process].map(([, name = ""]) => name),
    ...OUTER_METRICS,
  ]);
}

const dashboard = JSON.parse(read("grafana-dashboard.json")) as Dashboard;
const rules = (parse(read("alerts.yaml")) as Alerts).groups.flatMap((group) => group.rules);
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
];

describe("dashboard and alerts", () => {
  it.each(expressions)("%s names only metrics, labels and values that exist", async (_, expr) => {
    const { metrics, labels, values } = namesOf(expr);
    const known = await knownNames();
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !known.has(name))).toEqual([]);
    const own = rows.filter(({ name }) => metrics.some((each) => each.startsWith(name)));
    const tables = own.map((row): Readonly<Record<string, readonly string[]>> => row.labels);
    const has = (label: string) => OUTER_LABELS.includes(label) || tables.some((table) => label in table);
    expect(labels.filter((label) => !has(label))).toEqual([]);
    const wrong = values
      .filter(([label]) => !OUTER_LABELS.includes(label) && label !== "status")
      .filter(([label, value]) =>
        value.split("|").some((each) => !tables.some((table) => table[label]?.includes(each))),
      );
    expect(wrong).toEqual([]);
  });

  it("reads expressions as Prometheus does", () => {
    expect(namesOf('sum by (a) (rate(x_total{b="c",d=~"$e"}[5m])) / (y > 0) and time() - z < 14 * 86400')).toEqual({
      metrics: ["x_total", "y", "z"],
      labels: ["b", "d", "a"],
      values: [["b", "c"]],
    });
  });

  it("shows every metric of the provider", () => {
    const shown = expressions.map(([, expr]) => expr).join(" ");
    expect(rows.map(({ name }) => name).filter((name) => !shown.includes(name))).toEqual([]);
  });

  it("says at every alert what to do", () => {
    expect(rules.filter(({ annotations }) => !("summary" in annotations && "remedy" in annotations))).toEqual([]);
  });

  it("has panels that do not overlap, each with a number of its own", () => {
    const { panels } = JSON.parse(read("grafana-dashboard.json")) as {
      readonly panels: readonly { readonly id: number; readonly gridPos: { x: number; y: number; w: number } }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x},${y}`)).size).toBe(panels.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});
