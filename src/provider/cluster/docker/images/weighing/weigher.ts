import { type ChildProcess, spawn } from "node:child_process";
import { Mutexes } from "../../../../../util/index.ts";
import type { Program } from "../../../contract/index.ts";
import { measureLayer, type Weight } from "./measure.ts";

/** First argument of this program for the process that weighs layers of images. */
export const WEIGHER_WORD = "layer-weigher";
/** Set for the process that weighs. */
export const WEIGHER_VARIABLE = "SVC_LAYER_WEIGHER";

export interface WeighOrder {
  readonly file: string;
  readonly most: string;
}

/** Message form of a weight. */
export type WeighAnswer =
  | { readonly kind: "whole"; readonly diffId: string; readonly bytes: string }
  | { readonly kind: "over"; readonly bytes: string }
  | { readonly kind: "fault"; readonly text: string }
  | { readonly kind: "failed"; readonly text: string };

export interface WeighOptions {
  /** One layer of a lease is weighed at a time. */
  readonly lease: string;
  /** Bytes above which a layer is not unpacked any further. */
  readonly most: bigint;
  readonly signal: AbortSignal;
}

/**
 * Weighs layers in a process of low priority: unpacking costs the processor whatever the tenant has made it cost, and
 * this process has leases to look after. Without a program it weighs here.
 */
export class Weigher {
  readonly #program: Program | undefined;
  readonly #leases = new Mutexes();

  constructor(program: Program | undefined) {
    this.#program = program;
  }

  weigh(file: string, { lease, most, signal }: WeighOptions): Promise<Weight> {
    return this.#leases.run(lease, () => {
      signal.throwIfAborted();
      return this.#program === undefined ? measureLayer(file, most) : ask(this.#program, { file, most, signal });
    });
  }
}

async function ask(
  { command, args }: Program,
  { file, most, signal }: Omit<WeighOptions, "lease"> & { readonly file: string },
): Promise<Weight> {
  const { PATH, TMPDIR } = process.env;
  const env = { ...(PATH && { PATH }), ...(TMPDIR && { TMPDIR }), [WEIGHER_VARIABLE]: "1" };
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  try {
    const answer = await answerOf(child, { file, most: String(most) });
    if (answer.kind === "failed") throw new Error(answer.text);
    return "bytes" in answer ? { ...answer, bytes: BigInt(answer.bytes) } : answer;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
  }
}

function answerOf(child: ChildProcess, order: WeighOrder): Promise<WeighAnswer> {
  return new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      reject(new Error(`the process that weighs layers of images ended (${signal ?? code})`));
    });
    child.send(order, () => {});
  });
}
