import { t } from "../../text/index.ts";

/** The result of a transaction in the words of lists, which know its code alone. */
export function outcomeOf(code: number | undefined): { readonly word: string; readonly kind: "good" | "bad" | "calm" } {
  if (code === undefined) return { word: t.fault.unknown, kind: "calm" };
  return code === 0 ? { word: t.tx.ok, kind: "good" } : { word: t.tx.failedCode(code), kind: "bad" };
}
