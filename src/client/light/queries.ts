import { type LightClient, type LightHeader, lightErrors } from "../../light/index.ts";
import { isOneOf, SvcError } from "../../util/index.ts";
import { findMethod } from "../../wire/index.ts";
import type { ChainClient } from "../chain/chain.ts";
import type { AbciQueryOptions, AbciQueryResult, NodeApi } from "../chain/node.ts";
import { type QueryClient, queryClient } from "../chain/query.ts";
import { clientErrors } from "../errors.ts";
import type { ProvenAnswer } from "./answers/answer.ts";
import { paramsAnswer } from "./answers/params.ts";
import { ChangedSince, type ProofSource, type ProvenState, provenState } from "./state.ts";

/** The treatment of answers that cannot be proven, and listeners. */
export interface VerifyOptions {
  /** Refuses queries whose answers cannot be proven; by default they are asked without proof. */
  readonly required?: boolean;
  /** Milliseconds for which a verified header is used again; by default each query asks for the newest one. */
  readonly freshMs?: number;
  /** Receives the height of each proven answer. */
  readonly onVerified?: (height: bigint) => void;
  /** Receives the path of each query that is asked without proof. */
  readonly onUnproven?: (path: string) => void;
}

/** The call of a node that answers queries. */
export type QueryNode = Pick<NodeApi, "abciQuery">;

/**
 * Queries whose answers the node has to prove: one record each of accounts, balances, the marketplace, escrow, providers,
 * certificates and stake, and parameters. Rejects with `wire/2` if a proof does not hold, with an error of `light` if a header
 * does not, and with `light/8` for other queries if proof is required.
 */
export function provenQueries(chain: ChainClient, light: LightClient, options: VerifyOptions = {}): QueryClient {
  return queryClient(provenNode({ node: chain.node, light }, options), chain.namespace);
}

/** A node that proves its answers where they can be proven. */
export function provenNode(source: ProofSource & { readonly node: QueryNode }, options: VerifyOptions): QueryNode {
  const unproven = (path: string, data: Uint8Array, query?: AbciQueryOptions): Promise<AbciQueryResult> => {
    if (options.required === true) throw lightErrors.unprovable(path);
    options.onUnproven?.(path);
    return source.node.abciQuery(path, data, query);
  };
  const headers = new NewestHeader(source.light, options.freshMs ?? 0);
  return {
    async abciQuery(path, data, query) {
      const answer = await answerOf(path);
      if (answer === undefined) return unproven(path, data, query);
      const work = (state: ProvenState) => told(answer, { state, data, options });
      const height = query?.height ?? 0n;
      const proven = height === 0n ? prove(source.node, headers, work) : proveAt({ ...source, headers }, height, work);
      const found = await proven.catch((error: unknown) => {
        // Old states are read without proof unless it is required, as lists are.
        if (height === 0n || options.required === true || !isOneOf([clientErrors.noProof], error)) throw error;
        return undefined;
      });
      return found ?? unproven(path, data, query);
    },
  };
}

/** Longest wait for the block that proves a change, and pauses between questions for it. */
const PROOF_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;
/** Longest wait for a node that is behind. */
const BEHIND_MS = 8_000;
/** Blocks that may be made between the questions for the newest header and for a value. */
const MEANWHILE = 2n;

/**
 * Answers from the newest state that can be proven. A header that is used again may be older than a value: then the newest one
 * is tried. A value that the newest block has changed is proven by the block after it: that block is awaited. A node proves its
 * last heights only, so it is asked once more if a height was too old.
 */
async function prove<T>(
  node: ProofSource["node"],
  headers: NewestHeader,
  answer: (state: ProvenState) => Promise<T>,
): Promise<T> {
  let header = await headers.fresh();
  let [isNewest, isMoved, isAgain] = [true, false, false];
  const deadline = performance.now() + BEHIND_MS;
  for (;;) {
    try {
      return await answer(provenState(node, header, { isNewest }));
    } catch (error) {
      if (error instanceof ChangedSince && isNewest) {
        const now = await headers.after(0n);
        const changed = least(error.height, now.height + MEANWHILE);
        const isOlder = !isMoved && now.height > header.height;
        header = isOlder || now.height > changed ? now : await headers.after(changed);
        isNewest = isOlder;
        isMoved = true;
      } else if (!isOneOf([clientErrors.noProof], error)) {
        throw error;
      } else if (!isAgain) {
        header = await headers.after(0n);
        isAgain = true;
      } else if (isBehind(error) && performance.now() < deadline) {
        await pause(MAX_PAUSE_MS);
      } else throw error;
    }
  }
}

/** Whether a node lacks the block of the state: one of several behind an address may be a few blocks behind. */
function isBehind(error: unknown): boolean {
  return error instanceof Error && error.message.includes("height in the future");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Heights that nodes prove, with some blocks more that were made meanwhile. */
const PROVEN_HEIGHTS = 140n;

/** Answers from the state of a height. The newest height is proven by the next block; later ones are not there. */
async function proveAt<T>(
  { node, light, headers }: ProofSource & { readonly headers: NewestHeader },
  height: bigint,
  answer: (state: ProvenState) => Promise<T>,
): Promise<T> {
  const newest = await headers.after(0n);
  if (height > newest.height) throw clientErrors.noProof(`block ${height} is not made yet`);
  if (height + PROVEN_HEIGHTS < newest.height) throw clientErrors.noProof(`height ${height} is too old`);
  const header = height === newest.height ? await headers.after(height) : newest;
  const next = header.height === height + 1n ? header : await light.at(height + 1n);
  return answer(provenState(node, next, { isNewest: false }));
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The newest verified header, which may be used again for a while. */
class NewestHeader {
  readonly #light: ProofSource["light"];
  readonly #freshMs: number;
  #last: { readonly header: LightHeader; readonly at: number } | undefined;
  #asked: Promise<LightHeader> | undefined;

  constructor(light: ProofSource["light"], freshMs: number) {
    this.#light = light;
    this.#freshMs = freshMs;
  }

  /** Queries made together share one. */
  async fresh(): Promise<LightHeader> {
    const { header, at } = this.#last ?? { at: Number.NEGATIVE_INFINITY };
    if (header !== undefined && performance.now() < at + this.#freshMs) return header;
    this.#asked ??= this.after(0n).finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  /** A header above a height, which is awaited. */
  async after(height: bigint): Promise<LightHeader> {
    const deadline = performance.now() + PROOF_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const { header } = await this.#light.latest();
      this.#last = { header, at: performance.now() };
      if (header.height > height) return header;
      if (performance.now() > deadline) {
        throw clientErrors.noProof(`block ${height} changed the record, and the block that proves it is not made`);
      }
      await pause(pauseMs);
    }
  }
}

interface Question {
  readonly state: ProvenState;
  readonly data: Uint8Array;
  readonly options: VerifyOptions;
}

/** The proven answer; undefined if the request is one that cannot be proven. An absent record is proven too. */
async function told(
  { answer }: ProvenAnswer,
  { state, data, options }: Question,
): Promise<AbciQueryResult | undefined> {
  const { height } = state;
  try {
    const value = await answer(state, data);
    if (value === undefined) return undefined;
    options.onVerified?.(height);
    const key = new Uint8Array();
    return { code: 0, codespace: "", log: "", info: "", key, value, height, proofOps: [] };
  } catch (error) {
    if (error instanceof SvcError && !UNVERIFIED.has(error.codespace)) options.onVerified?.(height);
    throw error;
  }
}

/** Codespaces of errors about the answer; all others say that the chain has no such record. */
const UNVERIFIED: ReadonlySet<string> = new Set(["client", "wire", "light"]);

/** Answers by the module of their rpc; loaded on demand. */
const ANSWERS: ReadonlyMap<string, () => Promise<{ readonly answers: readonly ProvenAnswer[] }>> = new Map([
  ...["auth", "bank"].map((module) => [module, () => import("./answers/coins.ts")] as const),
  ["staking", () => import("./answers/stake.ts")] as const,
  ["deployment", () => import("./answers/deployments.ts")] as const,
  ...["market", "escrow", "provider", "cert"].map((module) => [module, () => import("./answers/market.ts")] as const),
]);

async function answerOf(path: string): Promise<ProvenAnswer | undefined> {
  const method = findMethod(path);
  if (method === undefined) return undefined;
  const [, module = ""] = method.parent.typeName.split(".");
  const { answers = [] } = (await ANSWERS.get(module)?.()) ?? {};
  return answers.find((each) => each.method === method) ?? paramsAnswer(module, method);
}
