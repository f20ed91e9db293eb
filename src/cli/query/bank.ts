import { isDenom } from "../../util/index.ts";
import { Query as AuthQuery } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { isObject } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { usageError } from "../errors.ts";
import { printResult } from "../output.ts";
import { pageRequest } from "../page.ts";
import type { CommandInput } from "../spec.ts";
import { addressArgument, ask } from "./ask.ts";

/** `query bank balances ADDRESS`: all denominations, or with `--denom` one. */
export async function queryBalances(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const address = addressArgument(args[0] ?? "", "address", flags);
  const denom = flags.optional("denom");
  const pagination = pageRequest(flags);
  const context = createContext(input);
  if (denom === undefined) {
    printResult(await ask(context, BankQuery.method.allBalances, { address, pagination }), context.output, io);
    return;
  }
  if (!isDenom(denom)) throw usageError(`--denom: "${denom.slice(0, 64)}" is no denomination`);
  const answer = await ask(context, BankQuery.method.balance, { address, denom });
  printResult(isObject(answer) ? (answer.balance ?? null) : answer, context.output, io);
}

/** `query account ADDRESS`. */
export async function queryAccount(input: CommandInput): Promise<void> {
  const address = addressArgument(input.args[0] ?? "", "address", input.flags);
  const context = createContext(input);
  const answer = await ask(context, AuthQuery.method.account, { address });
  printResult(isObject(answer) ? (answer.account ?? null) : answer, context.output, input.io);
}
