import { errorText, sdkErrors } from "../../util/index.ts";
import { BusyError, RpcError } from "../errors.ts";

/** Pauses before each further try, where the node does not ask for another one. */
const PAUSES_MS = [1000, 2000, 4000];
const MAX_PAUSE_MS = 10_000;

/** Why a call may succeed if it is made again. */
interface Busy {
  readonly why: string;
  readonly afterMs?: number | undefined;
}

/** Makes a call, and makes it again while the node refuses it for the moment. `onRetry` receives why, and the pause. */
export async function whileBusy<T>(run: () => Promise<T>, onRetry: (text: string) => void): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    const { busy, settle } = await attempt(run);
    if (busy === undefined) return settle();
    const waitMs = Math.min(busy.afterMs ?? pauseMs, MAX_PAUSE_MS);
    onRetry(`${busy.why}; trying again in ${waitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  return run();
}

async function attempt<T>(run: () => Promise<T>): Promise<{ busy: Busy | undefined; settle: () => T }> {
  try {
    const result = await run();
    return { busy: busyResult(result), settle: () => result };
  } catch (error) {
    const settle = (): never => {
      throw error;
    };
    return { busy: busyError(error), settle };
  }
}

/** Nodes refuse with the code of a full mempool whatever they have too much of at the moment. */
function busyResult(result: unknown): Busy | undefined {
  const answer = isObject(result) && isObject(result.response) ? result.response : result;
  if (!isObject(answer) || answer.code !== sdkErrors.mempoolFull.code || answer.codespace !== "sdk") return undefined;
  return { why: `the node is busy (${String(answer.log ?? "")})` };
}

function busyError(error: unknown): Busy | undefined {
  if (error instanceof BusyError) return { why: errorText(error), afterMs: error.retryAfterMs };
  if (!(error instanceof RpcError) || !error.message.includes(sdkErrors.mempoolFull.description)) return undefined;
  return { why: `the node is busy (${error.data})` };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
