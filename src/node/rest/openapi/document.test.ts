import { describe, expect, it } from "vitest";
import { allServices } from "../../../wire/index.ts";
import { routesOf } from "../routes.ts";
import { openApiDocument } from "./document.ts";

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters: readonly { readonly name: string; readonly description?: string }[];
}

const services = allServices().filter(({ name }) => name !== "Msg");
const { paths } = openApiDocument(routesOf(services.flatMap(({ methods }) => methods)), "svc-1") as unknown as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.values(paths).flatMap((path) => Object.values(path));

describe("the document of all routes", () => {
  it("describes every operation: in `short` of the option `cli` of its rpc", () => {
    const without = operations.filter(({ summary = "" }) => summary === "");
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it("describes every parameter: by its name in descriptions.ts", () => {
    const without = operations.flatMap(({ operationId, parameters }) =>
      parameters.filter(({ description = "" }) => description === "").map(({ name }) => `${name} of ${operationId}`),
    );
    expect(without).toEqual([]);
  });

  it("has no two paths that differ only in the name of a variable", () => {
    const shapes = Object.keys(paths).map((path) => path.replaceAll(/\{[^}]*\}/g, "{}"));
    expect(shapes.filter((shape, i) => shapes.indexOf(shape) !== i)).toEqual([]);
  });
});
