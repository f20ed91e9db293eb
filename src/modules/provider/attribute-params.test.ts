import { expect, test } from "vitest";
import { genesisProblems, standardModules } from "../../app/index.ts";
import { DEFAULT_ATTRIBUTE_PARAMS } from "../../sdl/index.ts";

/** The default state of a module with other parameters. */
function problems(module: "provider" | "audit", change: Partial<typeof DEFAULT_ATTRIBUTE_PARAMS>): string[] {
  const { modules } = standardModules();
  const part = modules.find(({ name }) => name === module)?.genesis;
  if (part === undefined) throw new Error(`there is no module ${module}`);
  const params = { ...DEFAULT_ATTRIBUTE_PARAMS, ...change };
  const state = { ...part.defaults() };
  const stored = Reflect.get(state, "params");
  return [...(part.validate?.({ ...state, ...{ params: { ...stored, ...params } } }) ?? [])];
}

test.each(["provider", "audit"] as const)("the limits on attributes of module %s have bounds", (module) => {
  expect(problems(module, {})).toEqual([]);
  expect(problems(module, { attributesMax: 256, attributeKeyMax: 2, attributeValueMax: 1024 })).toEqual([]);
  expect(problems(module, { attributesMax: 0, attributeKeyMax: 128, attributeValueMax: 1025 })).toEqual([
    "params.attributes_max: is 0, allowed are 1 to 256",
    "params.attribute_key_max: is 128, allowed are 2 to 127",
    "params.attribute_value_max: is 1025, allowed are 1 to 1024",
  ]);
  const inGenesis = (params: object) => genesisProblems(standardModules().modules, { [module]: { params } });
  expect(inGenesis({})).toEqual([]);
  for (const params of [{ attributes_max: 0 }, { attributesMax: 0 }]) {
    expect(inGenesis(params)).toEqual([`${module}: params.attributes_max: is 0, allowed are 1 to 256`]);
  }
});
