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
import { decodeMessage, encodeMessage } from "../../wire/index.ts";

/** The last committed state, as queries read it. */
export interface QueriedState {
  committed(): MultiReader;
  /** Past what is kept in memory; closed after use. */
  snapshot(): MultiReader & { close(): void };
  /** A value with its proof, from whoever holds the trees. */
  prove?(store: string, key: Uint8Array): ProvenValue;
}

/** What queries are answered from. */
export interface QuerySources {
  readonly router: Router;
  readonly state: QueriedState;
  /** Names of the stores that can be read raw. */
  readonly storeNames: readonly string[];
  readonly version: string;
  /** The last committed block; undefined before the first. */
  readonly block: BlockInfo | undefined;
  /** Told of programming errors. */
  report(problem: BlockProblem): void;
}

const NOTHING = new Uint8Array(0);

/** Answers a query from the last committed state; every error but `GivenUp` becomes a result. */
export function answerQuery(sources: QuerySources, query: AppQuery): AppQueryResult {
  const height = sources.block?.height ?? 0n;
  const base = { code: 0, codespace: "", log: "", info: "", key: NOTHING, value: NOTHING, proofOps: [], height };
  const failed = (error: unknown, failure: QueryFailure): AppQueryResult => {
    if (error instanceof GivenUp) throw error;
    if (isPanic(error)) sources.report({ item: `query ${query.path}`, height, error });
    return { ...base, ...failure };
  };
  let answer: () => Uint8Array;
  try {
    if (query.path.startsWith("/store/")) return { ...base, ...readRaw(sources, query), key: query.data };
    answer = findAnswer(sources, query);
  } catch (error) {
    return failed(error, plainFailure(error));
  }
  try {
    return { ...base, value: answer() };
  } catch (error) {
    return failed(error, queryFailure(error));
  }
}

/** What answers a query. Throws when there is no such path or no state of the height. */
function findAnswer(sources: QuerySources, query: AppQuery): () => Uint8Array {
  if (query.path === "/app/version") return () => toUtf8(sources.version);
  const block = checkHeight(sources, query.height);
  const route = sources.router.query(query.path);
  if (route === undefined) throw unknownPath();
  const { method, namespace } = route;
  return () => {
    const request = decodeMessage(method.input, query.data, sdkErrors.invalidRequest);
    const stores = new CacheMultiStore(sources.state.committed());
    const answer = method.handle(new Context({ block, mode: "query", stores, namespace }), request);
    return encode(method.output, answer);
  };
}

function encode(schema: DescMessage, answer: MessageInitShape<DescMessage>): Uint8Array {
  return encodeMessage(schema, create(schema, answer));
}

/** Only the last committed state is kept. */
function checkHeight({ block }: QuerySources, asked: bigint): BlockInfo {
  if (block === undefined) throw sdkErrors.invalidHeight("there is no state yet, the first block is still to come");
  if (asked === 0n || asked === block.height) return block;
  if (asked < 0n) throw sdkErrors.invalidHeight("cannot query with a negative height");
  if (asked > block.height)
    throw sdkErrors.invalidHeight("cannot query with height in the future; please provide a valid height");
  throw sdkErrors.invalidRequest(
    `failed to load state at height ${asked}; version does not exist (latest height: ${block.height})`,
    { hint: "this node keeps the latest state only: leave the height out" },
  );
}

/** `/store/<name>/key`: the bytes stored under the key in the data, with their proof where one is asked for. */
function readRaw(sources: QuerySources, query: AppQuery): Pick<AppQueryResult, "value" | "proofOps"> {
  const { state, storeNames } = sources;
  const { path, data, height, prove } = query;
  checkHeight(sources, height);
  const [, , name = "", kind] = path.split("/");
  if (kind !== "key") throw unknownPath();
  if (!storeNames.includes(name)) throw sdkErrors.unknownRequest(`there is no store ${quote(name)}`);
  if (data.length === 0 || data.length > MAX_KEY_BYTES)
    throw sdkErrors.invalidRequest(`a key has 1 to ${MAX_KEY_BYTES} bytes, not ${data.length}`);
  if (!prove) return { value: rawValue(state, name, data) ?? NOTHING, proofOps: [] };
  if (state.prove === undefined) throw sdkErrors.notSupported("proofs of stored values");
  const { value, ops } = state.prove(name, data);
  return { value: value ?? NOTHING, proofOps: ops };
}

/** Past the cache, which remembers absent keys too: made-up ones would fill the memory. */
function rawValue(state: QueriedState, name: string, key: Uint8Array): Uint8Array | undefined {
  const snapshot = state.snapshot();
  try {
    return snapshot.store(name).get(key);
  } finally {
    snapshot.close();
  }
}

/** The words by which clients know that a chain lacks a module. */
function unknownPath(): Error {
  return sdkErrors.unknownRequest("unknown query path");
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
