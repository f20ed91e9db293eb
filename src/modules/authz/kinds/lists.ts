import { sdkErrors } from "../../../util/index.ts";
import { decodeAddress } from "../../../wire/index.ts";

/** Maximum number of addresses in an authorization: each use reads them all. */
export const MAX_LISTED = 1000;

/** Checks a list of addresses, each of which has one spelling. Throws `sdk/7` and `sdk/18`. */
export function checkList(field: string, texts: readonly string[], kind: "account" | "valoper"): void {
  if (texts.length > MAX_LISTED) throw sdkErrors.invalidRequest(`${field}: more than ${MAX_LISTED} addresses`);
  for (const text of texts) decodeAddress(text, kind);
  if (new Set(texts).size < texts.length) throw sdkErrors.invalidRequest(`${field}: duplicate entry`);
}
