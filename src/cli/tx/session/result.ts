import { type TxResponse, TxResponseSchema, txError } from "../../../client/index.ts";
import { EXIT, printable } from "../../../util/index.ts";
import { toJson } from "../../../wire/index.ts";
import type { CliContext } from "../../context.ts";
import { printResult } from "../../terminal/output.ts";

/** Prints the result of a transaction; the exit code says whether it is known to have failed. */
export async function printTxResult(context: CliContext, response: TxResponse): Promise<number> {
  printResult(toJson(TxResponseSchema, response), context.output, context.io);
  if (response.code === 0) return EXIT.done;
  const { message, hint } = txError(response);
  context.io.err(`Error: ${printable(message)}\n`);
  if (hint !== undefined) context.io.err(`Hint: ${hint}\n`);
  return EXIT.failed;
}
