import { Query } from "../../wire/gen/sdk/mint/v1beta1/query_pb.js";
import { isObject, type JsonValue } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { printResult } from "../output.ts";
import type { CommandInput } from "../spec.ts";
import { ask } from "./ask.ts";

/** `query mint inflation`. */
export function queryInflation(input: CommandInput): Promise<void> {
  return printNumber(input, Query.method.inflation, "inflation");
}

/** `query mint annual-provisions`. */
export function queryAnnualProvisions(input: CommandInput): Promise<void> {
  return printNumber(input, Query.method.annualProvisions, "annual_provisions");
}

type NumberQuery = typeof Query.method.inflation | typeof Query.method.annualProvisions;

/** As text the number alone, without the quotes that YAML would need; as JSON the whole answer. */
async function printNumber(input: CommandInput, method: NumberQuery, field: string): Promise<void> {
  const context = createContext(input);
  const answer = await ask(context, method, {});
  if (context.output === "json") printResult(answer, "json", input.io);
  else input.io.out(`${String(numberOf(answer, field))}\n`);
}

function numberOf(answer: JsonValue, field: string): JsonValue {
  return isObject(answer) ? (answer[field] ?? null) : answer;
}
