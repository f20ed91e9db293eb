import type { OrderNumbers } from "../../wire/index.ts";
import { gatewayErrors } from "./errors.ts";

const MAX_UINT64 = (1n << 64n) - 1n;
const MAX_UINT32 = 0xffff_ffffn;

/** Characters and length that cover every path of the gateway; any other path is refused. */
const PATH = /^\/[A-Za-z0-9_/-]{0,512}$/;

/** The path of a request's address; refuses encodings, double slashes and absolute forms. */
export function readPath(url: string): string {
  const [path = ""] = url.split("?", 1);
  if (!url.startsWith("/")) throw gatewayErrors.badRequest("write only the path");
  if (!PATH.test(path) || path.includes("//")) throw gatewayErrors.notFound();
  return path;
}

/** Reads the numbers in a path; a path with any other text there is not found. */
export function readIds(texts: {
  readonly dseq: string;
  readonly gseq?: string;
  readonly oseq?: string;
}): OrderNumbers {
  const dseq = readNumber(texts.dseq, MAX_UINT64);
  if (texts.gseq === undefined || texts.oseq === undefined) return { dseq };
  return { dseq, gseq: Number(readNumber(texts.gseq, MAX_UINT32)), oseq: Number(readNumber(texts.oseq, MAX_UINT32)) };
}

function readNumber(text: string, most: bigint): bigint {
  const value = /^[1-9]\d{0,19}$/.test(text) ? BigInt(text) : 0n;
  if (value === 0n || value > most) throw gatewayErrors.notFound();
  return value;
}
