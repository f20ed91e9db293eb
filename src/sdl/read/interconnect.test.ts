import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { SdlError } from "../errors.ts";
import { loadSdl } from "../load.ts";

const GPU = readFileSync(join(resolve(import.meta.dirname, "../../.."), "test/vectors/sdl/gpu-any.yaml"), "utf8");

/** The file with an interconnect in each profile, in a placement that asks for it. */
function connected(value: string, attribute = 'capabilities/gpu-interconnect: "true"'): string {
  return GPU.replace(/^( *)vendor:/m, (line, indent) => `${indent}interconnect: ${value}\n${line}`).replace(
    /^( *)pricing:/m,
    (line, indent) => `${indent}attributes: {${attribute}}\n${line}`,
  );
}

function says(text: string): readonly string[] {
  try {
    loadSdl(text);
  } catch (error) {
    if (error instanceof SdlError) return error.issues.map(({ problem, remedy }) => `${problem}; ${remedy}`);
    throw error;
  }
  return [];
}

test.each([
  ["[]", "auto"],
  ["{group: pair-1}", "pair-1"],
])("an interconnect %s is an attribute of the GPUs", (value, group) => {
  const { groups, manifest, warnings } = loadSdl(connected(value));
  const attributes = [
    { key: "interconnect/group", value: group },
    { key: "vendor/nvidia/model/*", value: "true" },
  ];
  expect(groups[0]?.resources[0]?.resources?.gpu?.attributes).toMatchObject(attributes);
  expect(manifest[0]?.services[0]?.resources.gpu.attributes).toEqual(attributes);
  expect(groups[0]?.requirements?.attributes).toMatchObject([{ key: "capabilities/gpu-interconnect", value: "true" }]);
  expect(warnings).toEqual([]);
});

test.each([
  ["true", '"true" is not an interconnect; write interconnect: [], or interconnect: {group: NAME}'],
  ["{group: auto}", '"auto" is not a name of your own; write interconnect: []'],
  [
    "{group: A B}",
    '"A B" is not the name of an interconnect group; write lower-case letters, digits and dashes, at most 63',
  ],
])("%s is refused", (value, fault) => expect(says(connected(value))).toEqual([fault]));

test("an interconnect counts among the attributes of a unit, of which there are at most 64", () => {
  const withModels = (count: number): string =>
    connected("[]").replace(/^( *)nvidia:$/m, (line, indent) =>
      [line, ...Array.from({ length: count }, (_, i) => `${indent}  - model: m${i}`)].join("\n"),
    );
  expect(says(withModels(63))).toEqual([]);
  expect(says(withModels(64))).toEqual([expect.stringMatching(/^65 attributes/)]);
});

test("the placement has to ask for it as well", () => {
  const [fault] = says(connected("[]", "region: eu"));
  expect(fault).toMatch(/asks for an interconnect, placement ".*" does not; .*capabilities\/gpu-interconnect: "true"/);
});
