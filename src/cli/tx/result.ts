import { type TxResponse, TxResponseSchema } from "../../client/index.ts";
import { EXIT, SvcError } from "../../util/index.ts";
import { toJson } from "../../wire/index.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import { printable } from "../printable.ts";

/** Prints the result of a transaction; the exit code says whether it is known to have failed. */
export async function printTxResult(context: CliContext, response: TxResponse): Promise<number> {
  printResult(toJson(TxResponseSchema, response), context.output, context.io);
  if (response.code === 0) return EXIT.done;
  const { message, hint } = await txError(response);
  context.io.err(`Error: ${printable(message)}\n`);
  if (hint !== undefined) context.io.err(`Hint: ${hint}\n`);
  return EXIT.failed;
}

/** The refusal of a transaction as an error with its remedy, for commands that go on only when it succeeded. */
export async function txError({ codespace, code, rawLog }: TxResponse): Promise<SvcError> {
  const { meaningOf, remedyOf } = await import("../remedies.ts");
  const hint = remedyOf(codespace, code, rawLog);
  const text = `transaction failed with code ${code} of ${codespace}: ${rawLog || (meaningOf(codespace, code) ?? "")}`;
  return new SvcError(codespace, code, text, hint === undefined ? {} : { hint });
}
