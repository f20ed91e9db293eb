import { tryParseInt } from "../../util/index.ts";
import { usageError } from "../errors.ts";

const MAX_ID = (1n << 64n) - 1n;

/** The number of a proposal, at least 1. */
export function proposalId(text: string): bigint {
  const id = tryParseInt(text);
  if (id !== undefined && id > 0n && id <= MAX_ID) return id;
  throw usageError(
    `<proposal-id>: "${text.slice(0, 64)}" is not the number of a proposal`,
    "look them up: svc query gov proposals",
  );
}
