import { create } from "@bufbuild/protobuf";
import {
  type BoundService,
  bindService,
  type Context,
  LEAST_BLOCK_GAS,
  priceProblems,
  updateParams,
} from "../../runtime/index.ts";
import { type Params, ParamsSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Msg } from "../../wire/gen/sdk/auth/v1beta1/tx_pb.js";
import { authErrors as errors } from "../../wire/index.ts";
import { DEFAULT_PARAMS, gasPricesOf, paramsProblems } from "./genesis.ts";
import { type AuthKeeper, STORE } from "./keeper.ts";

export function authMsgs(keeper: AuthKeeper, blockGas: (ctx: Context) => bigint): BoundService {
  const update = updateParams({
    set: (ctx, params) => changeParams(keeper, ctx, { params, blockGas: blockGas(ctx) }),
    problems,
    refuse: errors.invalidParams,
  });
  return bindService(Msg, { updateParams: update.handle }, { updateParams: update.check });
}

/** Other clients of the ecosystem know nothing of `store_gas`: without it, everything that is stored would be free. */
function problems(params: Params): string[] {
  return [
    ...(params.storeGas === undefined ? ["params.store_gas: missing"] : []),
    ...paramsProblems(params),
    ...priceProblems(gasPricesOf(params), gasPricesOf(create(ParamsSchema, DEFAULT_PARAMS))),
  ];
}

/** The blocks of a genesis file may have less gas than governance can give them: prices rise only when they have more. */
function changeParams(
  keeper: AuthKeeper,
  ctx: Context,
  { params, blockGas }: { readonly params: Params; readonly blockGas: bigint },
): void {
  const before = gasPricesOf(keeper.getParams(ctx));
  const dearer = Object.entries(gasPricesOf(params)).find(([name, price]) => price > (before[name] ?? 0n));
  if (dearer !== undefined && blockGas >= 0n && blockGas < LEAST_BLOCK_GAS)
    throw errors.invalidParams(`params.${dearer[0]}: first raise block.max_gas to ${LEAST_BLOCK_GAS} or more`);
  keeper.params.set(ctx.store(STORE), params);
}
