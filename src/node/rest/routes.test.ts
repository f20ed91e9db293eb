import { describe, expect, it } from "vitest";
import { allServices, httpRule, toNamespace } from "../../wire/index.ts";
import { type Route, RouteTable, routesOf } from "./routes.ts";
import { formatTemplate, parseTemplate } from "./template.ts";

const methods = allServices().flatMap((service) => service.methods);
const routes = routesOf(methods);

const table = new RouteTable(routes);

/** Text of a variable of a path; an address where the text decides about the rpc. */
function textOf(field: string): string {
  return field === "address_string" ? "svc1qqqqqqqq" : `value of ${field}`;
}

/** The segments of a path in which every variable has its own value. */
function sample({ steps }: Route): string[] {
  return steps.map((step) => (step.kind === "word" ? step.word : textOf(step.field)));
}

describe("the routes of all rpcs", () => {
  it("are one for each option, and each finds its rpc with its values", () => {
    const rules = methods.flatMap((method) => {
      const rule = httpRule(method);
      return rule === undefined ? [] : [rule, ...rule.additionalBindings];
    });
    expect(rules.length).toBeGreaterThanOrEqual(110);
    expect(routes.length).toBe(rules.length);
    for (const route of routes) {
      const found = table.find(route.verb, sample(route));
      expect(`${found?.route.method} ${found?.route.verb}`).toBe(`${route.method} ${route.verb}`);
      for (const [field, value] of found?.values ?? []) expect(value).toBe(textOf(field));
    }
  });

  it("give every query and every rpc of the node's services one", () => {
    const without = methods
      .filter(({ parent }) => parent.name !== "Msg")
      .filter((each) => httpRule(each) === undefined);
    expect(without.map((method) => `${method.parent.typeName}/${method.name}`)).toEqual([]);
  });

  it("stand under the package of their service, and name fields that there are", () => {
    for (const { method, steps } of routes) {
      const path = formatTemplate(steps);
      expect(toNamespace(path, "sdk")).toBe(path);
      for (const step of steps) {
        if (step.kind !== "word") expect(method.input.fields.map(({ name }) => name)).toContain(step.field);
      }
    }
  });

  it("are not those of other verbs, longer or shorter paths", () => {
    expect(table.find("POST", ["sdk", "bank", "v1beta1", "params"])).toBeUndefined();
    expect(table.find("GET", ["sdk", "bank", "v1beta1", "params", ""])).toBeUndefined();
    expect(table.find("GET", ["sdk", "bank", "v1beta1"])).toBeUndefined();
    expect(table.find("GET", ["sdk", "tx", "v1beta1", "simulate"])).toBeUndefined();
    expect(table.find("GET", [""])).toBeUndefined();
    expect(table.find("GET", ["__proto__", "constructor"])).toBeUndefined();
  });
});

describe("rpcs that share a path", () => {
  const found = (text: string) => table.find("GET", ["sdk", "auth", "v1beta1", "bech32", text])?.route.method.name;

  it.each([
    ["svc1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc527l4rw", "AddressStringToBytes"],
    ["cosmosvaloper1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5", "AddressStringToBytes"],
    ["AQIDBAUGBwgJCgsMDQ4PEBESExQ=", "AddressBytesToString"],
    ["svc1", "AddressBytesToString"],
  ])("are told apart by the text: %s", (text, name) => {
    expect(found(text)).toBe(name);
  });
});

describe("templates", () => {
  const [method] = methods;
  const tableOf = (...templates: string[]): RouteTable =>
    new RouteTable(
      templates.flatMap((template) =>
        method === undefined ? [] : [{ method, verb: "GET", body: "", steps: parseTemplate(template) }],
      ),
    );
  const valuesIn = (table: RouteTable, path: string) => {
    const found = table.find("GET", path.slice(1).split("/"));
    return found === undefined ? undefined : [formatTemplate(found.route.steps), ...found.values.values()];
  };

  it("prefer words, then variables, then all that is left, and go back where a way ends", () => {
    const table = tableOf("/a/latest", "/a/{x}", "/a/{x}/c", "/a/latest/d", "/a/{rest=**}", "/b/{y=*}");
    expect(valuesIn(table, "/a/latest")).toEqual(["/a/latest"]);
    expect(valuesIn(table, "/a/7")).toEqual(["/a/{x}", "7"]);
    expect(valuesIn(table, "/a/latest/c")).toEqual(["/a/{x}/c", "latest"]);
    expect(valuesIn(table, "/a/latest/d")).toEqual(["/a/latest/d"]);
    expect(valuesIn(table, "/a/1/2/3")).toEqual(["/a/{rest}", "1/2/3"]);
    expect(valuesIn(table, "/b/")).toEqual(["/b/{y}", ""]);
    expect(valuesIn(table, "/b/1/2")).toBeUndefined();
  });

  it("are refused at once where two are the same or one is not understood", () => {
    expect(() => tableOf("/a/{x}", "/a/{y}")).toThrow("GET /a/{y} is the route of two rpcs");
    expect(() => parseTemplate("/a/{x=**}/b")).toThrow("** stands last");
    expect(() => parseTemplate("/a/{x=b/*}")).toThrow("is not a step of a path");
    expect(() => parseTemplate("a")).toThrow("begins with a slash");
  });
});
