import { sha256 } from "@noble/hashes/sha2.js";
import type { BidRecord } from "../../client/index.ts";
import { type LoadedSdl, loadSdl, type SdlSource } from "../../sdl/index.ts";
import { type Clock, concatBytes, type IntCoin, toHex } from "../../util/index.ts";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { type Any, encodeMessage } from "../../wire/index.ts";
import { sleep } from "./clock.ts";
import type { OpenGateway } from "./gateway.ts";
import type { Journal } from "./journal.ts";
import type { Market } from "./market.ts";
import type { Offer } from "./offer.ts";
import type { BidPolicy } from "./policy.ts";
import type { Probe } from "./probe.ts";
import type { Progress } from "./progress.ts";

/** The parts that a deployment works with. */
export interface DeployParts {
  readonly market: Market;
  readonly openGateway: OpenGateway;
  readonly journal: Journal;
  /** Asks the services from outside. Without it, they are ready when their provider says so. */
  readonly probe?: Probe;
  readonly clock: Clock;
  /** The message that publishes the tenant's client certificate; undefined when a valid one is on the chain. */
  readonly publishCertificate: () => Promise<Any | undefined>;
}

/** Questions to the user at the terminal. Absent if there are none. */
export interface Questions {
  /** Whether to continue with something that costs money. */
  confirm(text: string): Promise<boolean>;
  /** The bid to accept of a group's offers, cheapest first. */
  choose(group: string, offers: readonly Offer[]): Promise<BidRecord>;
}

/** A request to deploy; the path of its file is absolute. */
export interface DeployRequest extends SdlSource, DeploySettings {
  readonly signal: AbortSignal;
}

/** How a deployment is made. */
interface DeploySettings {
  readonly policy: BidPolicy;
  /** The chain's minimum when left out. */
  readonly deposit?: IntCoin;
  /** Blocks to wait after the first bid. */
  readonly bidWindow: bigint;
  /** Longest wait for bids, for a provider to accept the manifest, and for the services to be ready. */
  readonly timeoutMs: number;
  /** Makes another deployment even if this file already has one. */
  readonly fresh: boolean;
  readonly questions?: Partial<Questions>;
}

/** Settings of a deployment that need not be given. */
export interface DeployChoices {
  /** The cheapest bid when left out. */
  readonly policy?: BidPolicy;
  /** The least that the chain accepts when left out. */
  readonly deposit?: IntCoin;
  /** Blocks to wait after the first bid; 2 when left out. */
  readonly bidWindow?: bigint;
  /** Longest wait for bids, and then for the services; five minutes when left out. */
  readonly timeoutMs?: number;
  /** Makes another deployment even if this file already has one. */
  readonly fresh?: boolean;
  /** No questions are asked when left out. */
  readonly questions?: Partial<Questions>;
}

const DEFAULT_BID_WINDOW = 2n;
const DEFAULT_TIMEOUT_MS = 300_000;

/** The settings with the defaults filled in. */
export function deploySettings(choices: DeployChoices): DeploySettings {
  const { deposit, questions } = choices;
  return {
    policy: choices.policy ?? { choice: { kind: "cheapest" } },
    bidWindow: choices.bidWindow ?? DEFAULT_BID_WINDOW,
    timeoutMs: choices.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    fresh: choices.fresh ?? false,
    ...(deposit === undefined ? {} : { deposit }),
    ...(questions === undefined ? {} : { questions }),
  };
}

/** A deployment file that a page has as a text. */
export interface TextSource extends DeployChoices {
  /** Name of the file; a later run with the same name continues an interrupted one. */
  readonly name: string;
  readonly text: string;
}

/**
 * The request for a deployment file in a text, with the defaults filled in.
 * @throws SdlError with every fault of the text
 */
export function textRequest(source: TextSource, signal: AbortSignal = new AbortController().signal): DeployRequest {
  const { name: file, text } = source;
  const reread: DeployRequest["reread"] = (chain) => loadSdl(text, { file, chain });
  return { ...deploySettings(source), file, sdl: loadSdl(text, { file }), reread, signal };
}

/** One run of `deploy`. */
export interface Session extends DeployParts {
  readonly request: DeployRequest;
  readonly progress: Progress;
  /** Hash of the file's groups and manifest. */
  readonly fingerprint: string;
}

/** A run that can ask services from outside. */
export interface ProbedSession extends Session {
  readonly probe: Probe;
}

/** Equal for files that ask for the same: groups with prices and requirements, and the manifest. */
export function fingerprintOf({ groups, hash }: LoadedSdl): string {
  return toHex(sha256(concatBytes(hash, ...groups.map((group) => encodeMessage(GroupSpecSchema, group)))));
}

/**
 * The next height, or undefined when the chain has not moved in `ms` milliseconds. Rejects with
 * `deployErrors.interrupted` when the session is interrupted.
 */
export async function nextHeight(
  { market, clock, request }: Pick<Session, "market" | "clock" | "request">,
  after: bigint,
  ms: number,
): Promise<bigint | undefined> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, request.signal]);
  const idle = sleep(clock, ms, signal).catch((error: unknown) => {
    if (!done.signal.aborted) throw error;
  });
  try {
    const height = await Promise.race([market.nextBlock(after, signal), idle]);
    return typeof height === "bigint" ? height : undefined;
  } finally {
    done.abort();
  }
}
