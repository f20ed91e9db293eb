import type { DescService } from "@bufbuild/protobuf";
import { type GasRow, gasTable, gasTableProblems } from "../../runtime/index.ts";
import { type AttributeParams, attributeParamProblems, DEFAULT_ATTRIBUTE_PARAMS } from "../../sdl/index.ts";

type Params = AttributeParams & { readonly messageGas: readonly GasRow[] };

/** Parameters of a module that stores attributes: their limits, and the gas of its messages. */
export function attributeModuleParams(service: DescService, gas: Readonly<Record<string, bigint>>) {
  return {
    defaults: { ...DEFAULT_ATTRIBUTE_PARAMS, messageGas: gasTable(gas) },
    /** One sentence for each fault. */
    problems: (params: Params): string[] => [
      ...attributeParamProblems(params),
      ...gasTableProblems(service, params.messageGas),
    ],
  };
}
