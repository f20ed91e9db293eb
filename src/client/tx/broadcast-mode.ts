import { sdkErrors } from "../../util/index.ts";

/** `async` waits for nothing, `sync` for the mempool's check, `block` for the commit. */
export type BroadcastMode = "sync" | "async" | "block";

const MODES: readonly BroadcastMode[] = ["sync", "async", "block"];

export function parseBroadcastMode(text: string): BroadcastMode {
  const mode = MODES.find((candidate) => candidate === text);
  if (mode !== undefined) return mode;
  throw sdkErrors.invalidRequest(`unsupported return type ${text.slice(0, 40)}; supported types: ${MODES.join(", ")}`);
}
