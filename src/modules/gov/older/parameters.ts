import { create } from "@bufbuild/protobuf";
import type { Module } from "../../../runtime/index.ts";
import { isObject, toJson } from "../../../wire/index.ts";
import type { ParameterSet } from "./contents.ts";

/** The parameters of a module that a message can change, from its query; undefined if there are none. */
export function parameterSet(modules: readonly Module[], name: string): ParameterSet | undefined {
  const found = modules.find((module) => module.name === name);
  const message = found?.msg?.methods.get("UpdateParams")?.input;
  const query = found?.query?.methods.get("Params");
  // A message of another form cannot be made from single parameters.
  if (message === undefined || query === undefined || message.field.params === undefined) return undefined;
  return {
    message,
    read(ctx) {
      const answer = create(query.output, query.handle(ctx, create(query.input)));
      const json = toJson(query.output, answer, { exact: true });
      const params = isObject(json) ? json.params : undefined;
      if (params === undefined || !isObject(params)) throw new Error(`module ${name} shows no parameters`);
      return params;
    },
  };
}
