import { isDenom } from "../../../util/index.ts";
import { Query } from "../../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { isObject } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { addressArgument, ask } from "../ask.ts";
import { pageRequest } from "../page.ts";

/** `query bank balances ADDRESS`: all denominations, or with `--denom` one. */
export async function queryBalances(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const address = addressArgument(args[0] ?? "", "address", flags);
  const denom = flags.optional("denom");
  const pagination = pageRequest(flags);
  const context = createContext(input);
  if (denom === undefined) {
    printResult(await ask(context, Query.method.allBalances, { address, pagination }), context.output, io);
    return;
  }
  const answer = await ask(context, Query.method.balance, { address, denom: denomOf(denom, "--denom") });
  printResult(isObject(answer) ? (answer.balance ?? null) : answer, context.output, io);
}

/** `query bank total [--denom DENOM]`. */
export async function querySupply(input: CommandInput): Promise<void> {
  const { flags, io } = input;
  const denom = flags.optional("denom");
  const pagination = pageRequest(flags);
  if (denom !== undefined) denomOf(denom, "--denom");
  const context = createContext(input);
  if (denom === undefined) {
    printResult(await ask(context, Query.method.totalSupply, { pagination }), context.output, io);
    return;
  }
  const answer = await ask(context, Query.method.supplyOf, { denom });
  printResult(isObject(answer) ? (answer.amount ?? null) : answer, context.output, io);
}

/** `query bank denom-metadata [DENOM]`: of one denomination, as an argument or with `--denom`, or of all. */
export async function queryDenomMetadata(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const [argument] = args;
  if (argument !== undefined && flags.typed("denom"))
    throw usageError("give the denomination once: <denom> or --denom");
  const denom = argument ?? flags.optional("denom");
  const pagination = pageRequest(flags);
  if (denom !== undefined) denomOf(denom, argument === undefined ? "--denom" : "<denom>");
  const context = createContext(input);
  const answer =
    denom === undefined
      ? await ask(context, Query.method.denomsMetadata, { pagination })
      : await ask(context, Query.method.denomMetadata, { denom });
  printResult(answer, context.output, io);
}

function denomOf(text: string, name: string): string {
  if (isDenom(text)) return text;
  throw usageError(`${name}: "${text.slice(0, 64)}" is not a denomination`);
}
