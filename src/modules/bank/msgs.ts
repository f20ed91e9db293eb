import { create } from "@bufbuild/protobuf";
import {
  type BoundService,
  bindService,
  type Context,
  checkAuthority,
  readSomeCoins,
  updateParams,
} from "../../runtime/index.ts";
import { formatCoins, type IntCoin, isDenom, sdkErrors, sumCoins } from "../../util/index.ts";
import { type Params, ParamsSchema } from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import {
  type Input,
  Msg,
  type MsgMultiSend,
  type MsgSend,
  type MsgSetSendEnabled,
  type Output,
} from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { decodeAddress, bankErrors as errors } from "../../wire/index.ts";
import { paramsProblems } from "./genesis.ts";
import { type BankKeeper, STORE } from "./keeper.ts";

/** Maximum number of senders and of receivers of one MsgMultiSend. */
const MAX_PARTIES = 500;

export function bankMsgs(keeper: BankKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.params.set(ctx.store(STORE), params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      send: (ctx, msg) => send(keeper, ctx, msg),
      multiSend: (ctx, msg) => multiSend(keeper, ctx, msg),
      updateParams: update.handle,
      setSendEnabled: (ctx, msg) => setSendEnabled(keeper, ctx, msg),
    },
    {
      send: checkSend,
      multiSend: checkMultiSend,
      updateParams: update.check,
      setSendEnabled: checkSetSendEnabled,
    },
  );
}

function send(keeper: BankKeeper, ctx: Context, msg: MsgSend): object {
  const coins = readSomeCoins(msg.amount);
  const to = decodeAddress(msg.toAddress);
  keeper.checkSendEnabled(ctx, coins);
  if (keeper.isBlocked(to)) throw sdkErrors.unauthorized(`${msg.toAddress} is not allowed to receive funds`);
  keeper.send(ctx, decodeAddress(msg.fromAddress), to, coins);
  ctx.events.emit("message", { module: "bank" });
  return {};
}

function multiSend(keeper: BankKeeper, ctx: Context, msg: MsgMultiSend): object {
  for (const { coins } of msg.inputs) keeper.checkSendEnabled(ctx, readSomeCoins(coins));
  for (const { address } of msg.outputs) {
    if (keeper.isBlocked(decodeAddress(address)))
      throw sdkErrors.unauthorized(`${address} is not allowed to receive funds`);
  }
  for (const { address, coins } of msg.inputs) {
    ctx.events.emit("message", { sender: address });
    keeper.subtract(ctx, decodeAddress(address), readSomeCoins(coins));
  }
  for (const { address, coins } of msg.outputs) {
    const read = readSomeCoins(coins);
    ctx.events.emit("transfer", { recipient: address, amount: formatCoins(read) });
    keeper.add(ctx, decodeAddress(address), read);
  }
  ctx.events.emit("message", { module: "bank" });
  return {};
}

function checkSend(msg: MsgSend): void {
  decodeAddress(msg.fromAddress);
  decodeAddress(msg.toAddress);
  readSomeCoins(msg.amount);
}

function checkMultiSend({ inputs, outputs }: MsgMultiSend): void {
  if (inputs.length === 0) throw errors.noInputs();
  if (outputs.length === 0) throw errors.noOutputs();
  if (inputs.length > MAX_PARTIES || outputs.length > MAX_PARTIES)
    throw sdkErrors.invalidRequest(`more than ${MAX_PARTIES} inputs or outputs`);
  const given = sumOf(inputs);
  const taken = sumOf(outputs);
  if (formatCoins(given) !== formatCoins(taken)) throw errors.unequalSums();
}

function sumOf(parties: readonly (Input | Output)[]): IntCoin[] {
  const coins = parties.flatMap((party) => {
    decodeAddress(party.address);
    return readSomeCoins(party.coins);
  });
  return sumCoins(coins);
}

/** Changes the named entries and keeps the others; a denomination without an entry follows the default. */
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
