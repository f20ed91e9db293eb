import { usageError } from "../errors.ts";

/** 64 hexadecimal digits in an argument, without `0x` in front. */
export function hashArgument(text: string, name: string, of: string): string {
  if (/^(?:0x)?[0-9a-f]{64}$/i.test(text)) return text.replace(/^0x/i, "").toUpperCase();
  const shown = JSON.stringify(text.slice(0, 80));
  throw usageError(`<${name}>: ${shown} is not a hash of ${of}, which has 64 hex digits`, "copy it from a result");
}
