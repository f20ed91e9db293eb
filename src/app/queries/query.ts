import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { AppQuery, AppQueryResult } from "../../abci/index.ts";
import {
  type BlockInfo,
  type BlockProblem,
  Context,
  GivenUp,
  isPanic,
  plainFailure,
  type QueryFailure,
  queryFailure,
  type Router,
} from "../../runtime/index.ts";
import { CacheMultiStore, MAX_KEY_BYTES, type MultiReader, type ProvenValue } from "../../store/index.ts";
import { sdkErrors, toUtf8 } from "../../util/index.ts";
import { decodeBounded, encodeMessage } from "../../wire/index.ts";
import type { PastState, PastStates } from "./past.ts";

/** The last committed state, as queries read it. */
export interface QueriedState {
  committed(): MultiReader;
  /** Bypasses the caches; closed after use. */
  snapshot(): MultiReader & { close(): void };
  /**
   * A value with its proof, from the holder of the trees: at the last height or an earlier one, down to the lowest
   * proven.
   */
  prove?(store: string, key: Uint8Array, height: bigint): ProvenValue;
  readonly lowestProven?: bigint;
}

/** The data from which queries are answered. */
export interface QuerySources {
  readonly router: Router;
  readonly state: QueriedState;
  /** Names of the stores that can be read raw. */
  readonly storeNames: readonly string[];
  readonly version: string;
  /** The last committed block; undefined before the first. */
  readonly block: BlockInfo | undefined;
  readonly past: PastStates;
  /** Receives programming errors. */
  report(problem: BlockProblem): void;
}

const NOTHING = new Uint8Array(0);

/** Answers a query from the committed state of its height; every error but `GivenUp` becomes a result. */
export function answerQuery(sources: QuerySources, query: AppQuery): AppQueryResult {
  const height = sources.block?.height ?? 0n;
  const base = { code: 0, codespace: "", log: "", info: "", key: NOTHING, value: NOTHING, proofOps: [], height };
  const failed = (error: unknown, failure: QueryFailure): AppQueryResult => {
    if (error instanceof GivenUp) throw error;
    if (isPanic(error)) sources.report({ item: `query ${query.path}`, height, error });
    return { ...base, ...failure };
  };
  let answer: Answer;
  try {
    if (query.path.startsWith("/store/")) return { ...base, ...readRaw(sources, query), key: query.data };
    answer = findAnswer(sources, query);
  } catch (error) {
    return failed(error, plainFailure(error));
  }
  try {
    return { ...base, height: answer.height ?? height, value: answer.value() };
  } catch (error) {
    return failed(error, queryFailure(error));
  }
}

interface Answer {
  /** Undefined if it belongs to no height. */
  readonly height: bigint | undefined;
  value(): Uint8Array;
}

/** The handler of a query. Throws if the path is unknown or the state of the height is missing. */
function findAnswer(sources: QuerySources, query: AppQuery): Answer {
  if (query.path === "/app/version") return { height: undefined, value: () => toUtf8(sources.version) };
  const { block, stores: committed } = stateAt(sources, query.height);
  const route = sources.router.query(query.path);
  if (route === undefined) throw unknownPath();
  const { method, namespace } = route;
  const value = () => {
    const request = decodeBounded(method.input, query.data);
    const stores = new CacheMultiStore(committed);
    const answer = method.handle(new Context({ block, mode: "query", stores, namespace }), request);
    return encode(method.output, answer);
  };
  return { height: block.height, value };
}

function encode(schema: DescMessage, answer: MessageInitShape<DescMessage>): Uint8Array {
  return encodeMessage(schema, create(schema, answer));
}

/** The state of a height, 0 for the last one. Throws where it is not kept. */
function stateAt({ block, past, state }: QuerySources, asked: bigint): PastState {
  if (block === undefined) throw sdkErrors.invalidHeight("there is no state before the first block");
  if (asked === 0n || asked === block.height) return { block, stores: state.committed() };
  if (asked < 0n) throw sdkErrors.invalidHeight("cannot query with a negative height");
  if (asked > block.height)
    throw sdkErrors.invalidHeight("cannot query with height in the future; please provide a valid height");
  const found = past.at(asked);
  if (found !== undefined) return found;
  throw notKept(asked, block.height, `the lowest height here is ${past.lowest() ?? block.height}`);
}

/** The words by which clients of the ecosystem recognise that a height was pruned. */
function notKept(asked: bigint, latest: bigint, lowest: string): Error {
  const text = `failed to load state at height ${asked}; version does not exist (latest height: ${latest}); ${lowest}`;
  return sdkErrors.invalidRequest(text);
}

/** `/store/<name>/key`: the bytes stored under the key in the data, with their proof where one is asked for. */
function readRaw(sources: QuerySources, query: AppQuery): Pick<AppQueryResult, "value" | "proofOps" | "height"> {
  const { state, storeNames } = sources;
  const { path, data, prove } = query;
  const { block, stores } = stateAt(sources, query.height);
  const { height } = block;
  const [, , name = "", kind] = path.split("/");
  if (kind !== "key") throw unknownPath();
  if (!storeNames.includes(name)) throw sdkErrors.unknownRequest(`there is no store ${quote(name)}`);
  if (data.length === 0 || data.length > MAX_KEY_BYTES)
    throw sdkErrors.invalidRequest(`a key has 1 to ${MAX_KEY_BYTES} bytes, not ${data.length}`);
  if (!prove) {
    const value = block === sources.block ? rawValue(state, name, data) : stores.store(name).get(data);
    return { value: value ?? NOTHING, proofOps: [], height };
  }
  if (state.prove === undefined) throw sdkErrors.notSupported("proofs of stored values");
  const { lowestProven = sources.block?.height ?? height } = state;
  if (height < lowestProven)
    throw notKept(
      height,
      sources.block?.height ?? height,
      `the lowest height that can be proven here is ${lowestProven}`,
    );
  const { value, ops } = state.prove(name, data, height);
  return { value: value ?? NOTHING, proofOps: ops, height };
}

/** Bypasses the cache, which remembers absent keys too: made-up ones would fill the memory. */
function rawValue(state: QueriedState, name: string, key: Uint8Array): Uint8Array | undefined {
  const snapshot = state.snapshot();
  try {
    return snapshot.store(name).get(key);
  } finally {
    snapshot.close();
  }
}

/** The words by which clients recognise that a chain lacks a module. */
function unknownPath(): Error {
  return sdkErrors.unknownRequest("unknown query path");
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
