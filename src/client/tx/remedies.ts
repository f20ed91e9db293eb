import { isOneOf, SvcError, sdkErrors } from "../../util/index.ts";
import { chainError } from "../../wire/index.ts";
import type { TxResponse } from "./tx-response.ts";

/** What somebody at a command line can do about errors that the chain shares with all who speak to it. */
const AT_THE_COMMAND_LINE: ReadonlyMap<number, string> = new Map([
  [sdkErrors.unauthorized.code, "check --from, --chain-id, --account-number and --sequence"],
  [sdkErrors.invalidAddress.code, "copy the address again, whole and in lower case"],
  [sdkErrors.wrongPassword.code, "try again with the passphrase that it was encrypted with"],
  [sdkErrors.memoTooLarge.code, "shorten --memo"],
  [sdkErrors.insufficientFunds.code, "look at the account: svc query bank balances <address>"],
  [
    sdkErrors.txInMempool.code,
    "it is on its way already; to send the same once more, wait for its block: svc query wait-tx <hash>",
  ],
  [sdkErrors.mempoolFull.code, "try again after the next blocks"],
  [sdkErrors.txTimeoutHeight.code, "give a later --timeout-height"],
  [
    sdkErrors.wrongSequence.code,
    "another transaction of this account is on its way: leave out --sequence, or try again after the next block",
  ],
]);

const ANOTHER_HEIGHT = "leave out --height for the latest state, or ask a node that keeps older ones";

/** Of all that chains answer with this code, only a path or a message that they do not know is for want of a module. */
function moduleRemedy(message: string): string | undefined {
  if (/\bno handler for "/.test(message))
    return "this is a chain of svc, which does without the module; the message is for other networks";
  if (/\bunknown query path\b|\bunrecognized message route\b|\bno message handler found\b/.test(message))
    return "the chain has no such module: is it the right --node? for a network with names of its own give its --profile";
  return undefined;
}

/** What the error tables advise for a code of the chain; refusals of a height have a number for themselves on newer nodes alone. */
export function remedyOf(codespace: string, code: number, message = ""): string | undefined {
  if (codespace === "sdk" && /\bheight\b.*\bversion does not exist\b|^cannot query with /.test(message))
    return ANOTHER_HEIGHT;
  if (isOneOf([sdkErrors.unknownRequest], { codespace, code })) return moduleRemedy(message);
  return chainError(codespace, code)?.().hint ?? (codespace === "sdk" ? AT_THE_COMMAND_LINE.get(code) : undefined);
}

/** What the error tables say of a code of the chain, for answers without words. */
export function meaningOf(codespace: string, code: number): string | undefined {
  return chainError(codespace, code)?.().message;
}

/** The refusal of a transaction as an error with its remedy, for those who go on only when it succeeded. */
export function txError({ codespace, code, rawLog }: TxResponse): SvcError {
  const hint = remedyOf(codespace, code, rawLog);
  const text = `transaction failed with code ${code} of ${codespace}: ${rawLog || (meaningOf(codespace, code) ?? "")}`;
  return new SvcError(codespace, code, text, hint === undefined ? {} : { hint });
}
