import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../../test/support/index.ts";
import { runs } from "../../../../test/support/runs.ts";
import { loadSdl } from "../../../sdl/index.ts";
import {
  addPort,
  addService,
  type Edit,
  edited,
  remove,
  removeService,
  renameService,
  setGlobal,
  setLines,
  setText,
} from "./edit.ts";
import { type Field, readForm, type SdlForm, type ServiceForm } from "./model.ts";

const example = (name: string): string => readFileSync(join(ROOT, "examples", name), "utf8");
const EXAMPLES = readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".yaml"));
const WEB = example("web.yaml");

function form(text: string): SdlForm {
  const found = readForm(text);
  if (found === undefined) throw new Error("the form cannot read it");
  return found;
}

function service(text: string, name = "web"): ServiceForm {
  const found = form(text).services.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

const change = (text: string, ...edits: readonly Edit[]): string =>
  edits.reduce((before, edit) => {
    const after = edited(before, edit);
    if (after === undefined) throw new Error("an alias would be lost");
    return after;
  }, text);
const comments = (text: string): readonly string[] =>
  [...text.matchAll(/(?:^|\s)(#.*)$/gm)].map(([, found = ""]) => found);
/** Lines that differ, each before and after. */
function difference(before: string, after: string): readonly (readonly (string | undefined)[])[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => [a[i]?.trim(), b[i]?.trim()]).filter(
    ([was, is]) => was !== is,
  );
}

/** Every value of a form that a person types. */
function fields({ services }: SdlForm): readonly Field[] {
  return services
    .flatMap((each) => [
      ...[each.image, each.cpu, each.memory, ...each.volumes.map(({ size }) => size)],
      ...(each.ports ?? []).flatMap(({ port, as, proto }) => [port, as, proto]),
      ...each.placements.flatMap(({ count, amount, denom }) => [count, amount, denom]),
    ])
    .filter((field) => field !== undefined);
}

describe("the form of a deployment file", () => {
  it("shows image, resources, ports, replicas and price", () => {
    expect(service(WEB)).toMatchObject({
      image: { text: "localhost/svc-sample:latest" },
      ports: [{ port: { text: "80" }, as: { text: "80" }, proto: { text: "" }, isGlobal: true, hosts: { lines: [] } }],
      cpu: { text: "0.1" },
      memory: { text: "32Mi" },
      volumes: [{ name: "", size: { text: "64Mi" } }],
      placements: [{ name: "anywhere", count: { text: "1" }, amount: { text: "1000" }, denom: { text: "utoken" } }],
    });
    expect(form(WEB).textOnly).toEqual([]);
  });

  it("says what stands in the text only", () => {
    expect(form(example("persistent.yaml")).textOnly).toEqual([
      "services.diary.args",
      "services.diary.params",
      "profiles.compute.diary.resources.storage[1].attributes",
    ]);
    expect(form(example("two-services.yaml")).textOnly).toContain("services.backend.expose[0].to");
  });

  it.each([["a: [1"], ["just text"], ["a: !tag 1"], [`${"[".repeat(40)}1${"]".repeat(40)}`]])(
    "reads nothing out of %j",
    (text) => expect(readForm(text)).toBeUndefined(),
  );

  it("leaves values of aliases, merged maps and anchors to the text", () => {
    const text = change(WEB).replace("image: localhost/svc-sample:latest", "image: &i localhost/svc-sample:latest");
    const two = `${text.replace("\nprofiles:", "\n  other: &o\n    image: *i\n  third: *o\nprofiles:")}`;
    expect(form(two).services.map(({ image }) => image)).toEqual([undefined, undefined, undefined]);
    expect(form(two).textOnly).toEqual(["services.web.image", "services.other", "services.third"]);
  });

  it("tells who shares resources and prices", () => {
    const text = change(WEB, addService("other")).replace("profile: other", "profile: small");
    expect(service(text).sharedWith).toEqual(["other"]);
  });
});

describe("a change in the form", () => {
  it.each(EXAMPLES)("that changes nothing leaves %s as it is", (name) => {
    expect(edited(example(name), () => undefined)).toBe(example(name));
  });

  it("changes its own line alone", () => {
    const after = change(WEB, setText(["services", "web", "image"], "docker.io/library/nginx:1.27"));
    expect(difference(WEB, after)).toEqual([
      ["image: localhost/svc-sample:latest", "image: docker.io/library/nginx:1.27"],
    ]);
    expect(
      difference(WEB, change(WEB, setText(["profiles", "compute", "small", "resources", "cpu", "units"], "2"))),
    ).toEqual([["units: 0.1 # a tenth of a core", "units: 2 # a tenth of a core"]]);
  });

  it("keeps the indentation and the layout of the file", () => {
    const text = "services:\n    web:\n        image: y # mine\n        expose:\n            - { port: 80 }\n";
    expect(change(text, setText(["services", "web", "image"], "x"))).toBe(text.replace("y #", "x #"));
    const flat = "a:\n- b: 1\nservices:\n  web:\n    image: x\n    env:\n    - A=1\n";
    expect(change(flat, setLines(["services", "web", "env"], ["A=1", "B=2"]))).toBe(`${flat}    - B=2\n`);
  });

  it("of any value is read back, and changes no other value and no comment", () => {
    const texts = EXAMPLES.map(example);
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.nat(),
        fc.string({ unit: "binary", maxLength: 30 }),
        (text, at, typed) => {
          const value = typed.replace(/[\p{Cc}\p{Cs}]/gu, "");
          const before = fields(form(text));
          const index = at % before.length;
          const field = before[index];
          if (field === undefined) return;
          const after = change(text, setText(field.path, value));
          expect(fields(form(after)).map((each) => each.text)).toEqual(
            before.map((each) => (each.path.join() === field.path.join() ? value : each.text)),
          );
          expect(form(after).textOnly).toEqual(form(text).textOnly);
          expect(comments(after).length).toBeGreaterThanOrEqual(comments(text).length);
        },
      ),
      { numRuns: runs(12) },
    );
  });

  it("of a list keeps the comments of the lines that stay", () => {
    const path = ["services", "web", "env"];
    const text = change(WEB, setLines(path, ["A=1", "B=2", "C=3"])).replace("- C=3", "- C=3 # the third");
    const after = change(text, setLines(path, ["A=1", "X=null", "Y=", "C=3"]));
    expect(after).toMatch(/- A=1\n +- X=null\n +- Y=\n +- C=3 # the third/);
    expect(service(change(after, setLines(path, ["C=3"]))).env?.lines).toEqual(["C=3"]);
    expect(change(after, setLines(path, []))).toBe(WEB);
  });

  it("of a list is read back, whatever it was", () => {
    const lines = fc.array(fc.constantFrom("A=1", "B=2", "C=x y", "null", "~", "D=#", "- x", "{a: b}"), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(lines, lines, (first, second) => {
        const path = ["services", "web", "env"];
        expect(service(change(WEB, setLines(path, first), setLines(path, second))).env?.lines).toEqual(second);
      }),
      { numRuns: runs(12) },
    );
  });

  it("removes an optional value that is empty, and quotes one that would mean nothing", () => {
    const port = ["services", "web", "expose", 0];
    expect(change(WEB, setText([...port, "as"], "", true))).not.toContain("as: 80");
    expect(change(WEB, setText(["services", "web", "image"], ""))).toContain('image: ""');
    expect(service(change(WEB, setText(["services", "web", "image"], "null"))).image?.text).toBe("null");
    expect(change(WEB, setText([...port, "proto"], "", true))).toBe(WEB);
  });

  it("opens a port to everybody and closes it, with the others who may connect", () => {
    const port = ["services", "web", "expose", 0];
    const closed = change(WEB, setGlobal(port, false));
    expect(closed).not.toContain("to:");
    expect(service(change(closed, setGlobal(port, true))).ports?.[0]?.isGlobal).toBe(true);
    const backend = ["services", "backend", "expose", 0];
    const both = change(example("two-services.yaml"), setGlobal(backend, true));
    expect(service(both, "backend").ports?.[0]?.isGlobal).toBe(true);
    expect(both).toContain("- service: frontend # this service alone may connect");
    expect(change(both, setGlobal(backend, false))).toBe(example("two-services.yaml"));
  });

  it("adds and removes ports", () => {
    const more = change(WEB, addPort("web"));
    expect(service(more).ports?.map(({ port }) => port?.text)).toEqual(["80", "8080"]);
    expect(loadSdl(more).manifest[0]?.services[0]?.expose).toHaveLength(2);
    const less = change(more, remove(["services", "web", "expose", 1]));
    expect(less).toBe(WEB);
    expect(service(change(less, remove(["services", "web", "expose", 0]))).ports).toEqual([]);
  });

  it("adds a service to a file, which is left as it was when the service goes", () => {
    const more = change(WEB, addService("db"), setText(["services", "db", "image"], "docker.io/library/postgres:17"));
    expect(loadSdl(more).manifest[0]?.services.map(({ name }) => name)).toEqual(["db", "web"]);
    expect(comments(more)).toEqual(comments(WEB));
    expect(change(more, removeService("db"))).toBe(WEB);
    // A profile that another service uses stays.
    const shared = more.replace("profile: db", "profile: small");
    expect(change(shared, removeService("db"))).toContain("small:");
  });

  it("renames a service wherever the file names it, and nothing else", () => {
    const text = example("two-services.yaml");
    const after = change(text, renameService("frontend", "shop"));
    const { names, textOnly } = form(after);
    expect(names).toEqual(["shop", "backend"]);
    expect(difference(text, after).map(([, is]) => is)).toEqual([
      "shop:",
      expect.stringMatching(/^- service: shop/),
      "shop:",
    ]);
    expect(textOnly).toEqual(form(text).textOnly.map((path) => path.replace("services.frontend", "services.shop")));
    expect(
      loadSdl(after)
        .manifest[0]?.services.map(({ name }) => name)
        .sort(),
    ).toEqual(["backend", "shop"]);
    expect(change(after, renameService("shop", "frontend"))).toBe(text);
  });

  it("takes no value away that an alias repeats elsewhere", () => {
    const text = "services:\n  a:\n    env: &e [A=1]\n  b:\n    env: *e\n";
    expect(edited(text, removeService("a"))).toBeUndefined();
    expect(change(text, removeService("b"))).not.toContain("*e");
  });

  it("makes a whole file out of nothing", () => {
    const text = change("", addService("web"), setText(["services", "web", "image"], "docker.io/library/nginx:1.27"));
    expect(loadSdl(text).manifest[0]?.services[0]).toMatchObject({ name: "web", count: 1 });
    expect(text).toContain('version: "2.0"');
    expect(form(change(text, removeService("web"))).services).toEqual([]);
  });
});
