import * as v from "valibot";
import { fromBase64, fromHex, fromUtf8 } from "../../util/index.ts";
import { clientErrors } from "../errors.ts";

/** Shapes of the parts of the node's answers that the client reads. Other parts are ignored. */

export const integer = v.pipe(
  v.union([v.string(), v.number()]),
  v.transform((value) => String(value)),
  v.regex(/^-?\d{1,20}$/),
  v.transform((value) => BigInt(value)),
);
const base64 = v.pipe(
  v.nullish(v.string(), ""),
  v.base64(),
  v.transform((text) => new Uint8Array(fromBase64(text))),
);
const hex = v.pipe(
  v.nullish(v.string(), ""),
  v.regex(/^(?:[0-9a-fA-F]{2})*$/),
  v.transform((text) => new Uint8Array(fromHex(text))),
);
const text = v.nullish(v.string(), "");
const list = <T extends v.GenericSchema>(item: T) => v.nullish(v.array(item), []);

const attribute = v.object({ key: text, value: text, index: v.nullish(v.boolean(), false) });
const event = v.object({ type: v.string(), attributes: list(attribute) });

const txResult = v.object({
  code: v.nullish(v.number(), 0),
  data: base64,
  log: text,
  info: text,
  gas_wanted: v.nullish(integer, 0),
  gas_used: v.nullish(integer, 0),
  events: list(event),
  codespace: text,
});

export const header = v.object({
  chain_id: v.string(),
  height: integer,
  time: v.string(),
  app_hash: text,
  proposer_address: text,
});

export const status = v.object({
  node_info: v.object({ network: v.string(), version: v.string(), moniker: text }),
  sync_info: v.object({
    latest_block_hash: text,
    latest_block_height: integer,
    latest_block_time: v.string(),
    earliest_block_height: v.nullish(integer, 0),
    catching_up: v.nullish(v.boolean(), false),
  }),
  engine: text,
  validator_info: v.nullish(v.object({ pub_key: v.nullish(v.object({ value: base64 })) })),
});

export const newBlock = v.object({ block: v.object({ header: v.object({ height: integer }) }) });

export const genesisChunk = v.object({ total: integer, data: base64 });

export const block = v.object({
  block_id: v.object({ hash: v.string() }),
  block: v.object({ header, data: v.object({ txs: list(base64) }) }),
});

export const blockResults = v.object({
  height: integer,
  txs_results: list(txResult),
  begin_block_events: list(event),
  end_block_events: list(event),
  finalize_block_events: list(event),
});

export const abciQuery = v.object({
  response: v.object({
    code: v.nullish(v.number(), 0),
    log: text,
    info: text,
    key: base64,
    value: base64,
    height: v.nullish(integer, 0),
    codespace: text,
    proofOps: v.nullish(v.object({ ops: list(v.object({ type: v.string(), key: base64, data: base64 })) })),
  }),
});

export const broadcast = v.object({
  code: v.nullish(v.number(), 0),
  data: hex,
  log: text,
  codespace: text,
  hash: v.string(),
});

export const tx = v.object({
  hash: v.string(),
  height: integer,
  index: v.nullish(v.number(), 0),
  tx_result: txResult,
  tx: base64,
});

export const txSearch = v.object({ txs: list(tx), total_count: integer });

export type EventAnswer = v.InferOutput<typeof event>;
export type TxResultAnswer = v.InferOutput<typeof txResult>;
export type TxAnswer = v.InferOutput<typeof tx>;
export type BlockResultsAnswer = v.InferOutput<typeof blockResults>;
export type BlockAnswer = v.InferOutput<typeof block>;

/** Checks an answer against its shape. Throws `clientErrors.badAnswer` naming the field. */
export function readAnswer<T extends v.GenericSchema>(schema: T, method: string, answer: unknown): v.InferOutput<T> {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = v.getDotPath(issue) ?? "result";
  throw clientErrors.badAnswer(`the node's answer to ${method} has no readable ${path}`);
}

/** The result of `status`, unchanged. Throws if it is malformed. */
export function checkStatus(answer: unknown): unknown {
  readAnswer(status, "status", answer);
  return answer;
}

/** For an unknown hash the answer has no block. */
const foundBlock = v.object({ block_id: v.object({ hash: v.string() }), block: v.nullish(v.object({ header })) });

/** The result of `block` or `block_by_hash`, unchanged. Throws if it is malformed. */
export function checkBlock(answer: unknown): unknown {
  readAnswer(foundBlock, "block", answer);
  return answer;
}

const blockHeaders = v.object({ last_height: integer, block_metas: v.array(v.looseObject({})) });

/** The result of `blockchain`. Throws if it is malformed. */
export function readHeaders(answer: unknown): v.InferOutput<typeof blockHeaders> {
  return readAnswer(blockHeaders, "blockchain", answer);
}

const blockSearch = v.object({ blocks: v.nullish(v.array(v.looseObject({}))), total_count: integer });

/** The result of `block_search`, unchanged. Throws if it is malformed. */
export function checkBlockSearch(answer: unknown): unknown {
  readAnswer(blockSearch, "block_search", answer);
  return answer;
}

const validatorPage = v.object({ block_height: integer, validators: v.array(v.object({ address: v.string() })) });

/** The result of `validators`, unchanged. Throws if it is malformed. */
export function checkValidators(answer: unknown): unknown {
  readAnswer(validatorPage, "validators", answer);
  return answer;
}

/** Attributes in plain text; nodes before 0.37 of the engine send them in base64. */
export function plainEvents(events: readonly EventAnswer[], encoded: boolean): EventAnswer[] {
  if (!encoded) return [...events];
  return events.map(({ type, attributes }) => ({
    type,
    attributes: attributes.map(({ key, value, index }) => ({ key: decodeText(key), value: decodeText(value), index })),
  }));
}

function decodeText(encoded: string): string {
  try {
    return fromUtf8(fromBase64(encoded));
  } catch {
    return encoded;
  }
}
