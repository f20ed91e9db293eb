import { create } from "@bufbuild/protobuf";
import { type Context, checkAuthority } from "../../runtime/index.ts";
import { isDenom, sdkErrors } from "../../util/index.ts";
import { type Params, ParamsSchema } from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import type { MsgSetSendEnabled } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { bankErrors as errors } from "../../wire/index.ts";
import { paramsProblems } from "./genesis.ts";
import { type BankKeeper, STORE } from "./keeper.ts";

/** Changes the entries that are named and leaves the others; what loses its entry follows the default. */
export function setSendEnabled(keeper: BankKeeper, ctx: Context, msg: MsgSetSendEnabled): object {
  checkAuthority(msg.authority);
  const changed = changedParams(keeper.getParams(ctx), msg);
  const [problem] = paramsProblems(changed);
  if (problem !== undefined) throw errors.invalidParams(problem);
  keeper.params.set(ctx.store(STORE), changed);
  return {};
}

/** Throws when a denomination is none, or has two entries. */
export function checkSetSendEnabled({ sendEnabled, useDefaultFor }: MsgSetSendEnabled): void {
  const [problem] = paramsProblems(create(ParamsSchema, { sendEnabled }));
  if (problem !== undefined) throw errors.invalidParams(problem);
  const wrong = useDefaultFor.find((denom) => !isDenom(denom));
  if (wrong !== undefined) throw sdkErrors.invalidRequest(`invalid denomination ${JSON.stringify(wrong.slice(0, 80))}`);
}

function changedParams(params: Params, { sendEnabled, useDefaultFor }: MsgSetSendEnabled): Params {
  const entries = new Map(params.sendEnabled.map((entry) => [entry.denom, entry]));
  for (const entry of sendEnabled) entries.set(entry.denom, entry);
  for (const denom of useDefaultFor) entries.delete(denom);
  return { ...params, sendEnabled: [...entries.values()] };
}
