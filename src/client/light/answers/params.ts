import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { clientErrors } from "../../errors.ts";
import { PARAMS_KEY } from "../keys.ts";
import type { ProvenAnswer } from "./answer.ts";

/** The engine's parameters are stored without the parts that the answer has besides. */
const OTHER_PARAMS: ReadonlySet<string> = new Set(["consensus"]);

/** The parameters of a module, if its answer holds nothing else: they are stored as the answer has them. */
export function paramsAnswer(module: string, method: ProvenAnswer["method"]): ProvenAnswer | undefined {
  const [only, ...others] = method.output.fields;
  const isPlain = method.name === "Params" && method.input.fields.length === 0 && others.length === 0;
  if (!isPlain || only?.name !== "params" || only.number !== 1 || OTHER_PARAMS.has(module)) return undefined;
  return {
    method,
    async answer(state) {
      const stored = await state.get(module, PARAMS_KEY);
      if (stored === undefined) throw clientErrors.badAnswer(`the chain has no parameters of module ${module}`);
      const params = stored.length === 1 && stored[0] === 0 ? new Uint8Array() : stored;
      return new BinaryWriter().tag(only.number, WireType.LengthDelimited).bytes(params).finish();
    },
  };
}
