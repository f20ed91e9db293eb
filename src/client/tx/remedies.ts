import { isOneOf, SvcError, sdkErrors } from "../../util/index.ts";
import { chainError } from "../../wire/index.ts";
import type { TxResponse } from "./tx-response.ts";

/** Remedies for the chain's shared errors, for users of the command line. */
const AT_THE_COMMAND_LINE: ReadonlyMap<number, string> = new Map([
  [sdkErrors.invalidAddress.code, "copy the address again, whole and in lower case"],
  [sdkErrors.wrongPassword.code, "try again with the passphrase that it was encrypted with"],
  [sdkErrors.memoTooLarge.code, "shorten --memo"],
  [
    sdkErrors.txInMempool.code,
    "it was already sent; to send the same again, wait for its block: svc query wait-tx <hash>",
  ],
  [sdkErrors.mempoolFull.code, "try again after the next blocks"],
  [sdkErrors.txTimeoutHeight.code, "give a later --timeout-height"],
  [
    sdkErrors.wrongSequence.code,
    "another transaction of this account is pending: leave out --sequence, or try again after the next block",
  ],
]);

/** One code covers wrong signatures and missing permissions. */
function permissionRemedy(message: string): string | undefined {
  if (/ is not allowed to receive /.test(message)) return "it is the account of a module: name another one";
  if (message !== "" && !/signature|signer|public key/.test(message)) return undefined;
  return "check --from, --chain-id, --account-number and --sequence";
}

/** Too little in an account, where coins may be locked, or too little left of a grant. */
function fundsRemedy(message: string): string {
  if (/\bmore than (?:the |spend )/.test(message)) return "see what is left of the grant: svc query authz grants";
  return "see what the account can spend: svc query bank spendable-balances <address>";
}

const ANOTHER_HEIGHT = "leave out --height for the latest state, or query a node that keeps older ones";

/** With this code, only an unknown path or message means that a module is missing. */
function moduleRemedy(message: string): string | undefined {
  if (/\bno handler for "/.test(message))
    return "this is a chain of svc, which does not have the module; the message is for other networks";
  if (/\bunknown query path\b|\bunrecognized message route\b|\bno message handler found\b/.test(message))
    return "the chain has no such module: is it the right --node? for a network with its own names give its --profile";
  return undefined;
}

/**
 * The remedy in the error tables for a code of the chain; only newer nodes have a separate code for refused heights.
 */
export function remedyOf(codespace: string, code: number, message = ""): string | undefined {
  if (codespace === "sdk" && /\bheight\b.*\bversion does not exist\b|^cannot query with /.test(message))
    return ANOTHER_HEIGHT;
  if (isOneOf([sdkErrors.unknownRequest], { codespace, code })) return moduleRemedy(message);
  if (isOneOf([sdkErrors.unauthorized], { codespace, code })) return permissionRemedy(message);
  if (isOneOf([sdkErrors.insufficientFunds], { codespace, code })) return fundsRemedy(message);
  return chainError(codespace, code)?.().hint ?? (codespace === "sdk" ? AT_THE_COMMAND_LINE.get(code) : undefined);
}

/** The text in the error tables for a code of the chain, for answers without text. */
export function meaningOf(codespace: string, code: number): string | undefined {
  return chainError(codespace, code)?.().message;
}

/** The refusal of a transaction as an error with its remedy, for callers that continue only after success. */
export function txError({ codespace, code, rawLog }: TxResponse): SvcError {
  const hint = remedyOf(codespace, code, rawLog);
  const text = `transaction failed with code ${code} of ${codespace}: ${rawLog || (meaningOf(codespace, code) ?? "")}`;
  return new SvcError(codespace, code, text, hint === undefined ? {} : { hint });
}
