import * as v from "valibot";
import { evidenceJson, readSignedHeader, readValidators, type SignedHeader, type Source } from "../../light/index.ts";
import { fromBase64 } from "../../util/index.ts";
import type { Validator } from "../../wire/index.ts";
import { integer, readAnswer } from "../chain/answers.ts";
import { clientErrors, RpcError } from "../errors.ts";
import type { RpcCall, RpcClient } from "../rpc/rpc.ts";

/** The engine's own limit; more rows of a page are not answered. */
const PER_PAGE = 100;
const MAX_PAGES = 100;

const commit = v.object({ signed_header: v.unknown() });
const block = v.object({ block: v.object({ data: v.object({ txs: v.nullish(v.array(v.string()), []) }) }) });
const validatorPage = v.object({ validators: v.array(v.unknown()), total: integer });

/** Words of nodes for a height that they do not have, or do not have any more. */
const NO_HEIGHT = /less than or equal to the current|is not available|no block yet|could not find|not found/i;

const NOT_YET = /less than or equal to the current|no block yet/i;
const TOO_MUCH = /the answers of a batch/;
const PRUNED = /lowest height is (\d+)/;

/** A block with the votes that made it final. Nothing of it is verified. */
export interface WholeBlock extends SignedHeader {
  readonly txs: readonly Uint8Array[];
}

/** A node as a source of blocks for the light client. */
export function rpcSource(rpc: RpcClient): Source {
  return {
    name: rpc.endpoint.http.origin,
    async signedHeader(height) {
      try {
        const params = height === undefined ? {} : { height: height.toString() };
        const answer = readAnswer(commit, "commit", await rpc.call("commit", params));
        return readSignedHeader(answer.signed_header);
      } catch (error) {
        if (error instanceof RpcError && NO_HEIGHT.test(error.data)) return undefined;
        throw error;
      }
    },
    validators: (height) => allValidators(rpc, height),
    async report(evidence) {
      await rpc.call("broadcast_evidence", { evidence: evidenceJson(evidence) });
    },
  };
}

async function allValidators(rpc: RpcClient, height: bigint): Promise<readonly Validator[]> {
  const found: Validator[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const params = { height: height.toString(), page: String(page), per_page: String(PER_PAGE) };
    const answer = readAnswer(validatorPage, "validators", await rpc.call("validators", params));
    for (const validator of readValidators(answer.validators)) found.push(validator);
    if (answer.validators.length === 0 || BigInt(found.length) >= answer.total) return found;
  }
  throw clientErrors.badAnswer(`the node has more than ${PER_PAGE * MAX_PAGES} validators at height ${height}`);
}

/**
 * At most so many blocks of a node from a height on; none if it does not have the first one yet.
 * @throws `clientErrors.pruned` if the node does not have the first one any more
 */
export async function wholeBlocks(rpc: RpcClient, from: bigint, count: number): Promise<WholeBlock[]> {
  const answers = await rpc.batch(Array.from({ length: count }, (_, i) => callsFor(from + BigInt(i))).flat());
  // A single block may be larger than the answers of a batch may be.
  const isTooLarge = answers.slice(0, 2).some((each) => each instanceof RpcError && TOO_MUCH.test(each.message));
  return blocksOf(isTooLarge ? await Promise.all(callsFor(from).map((call) => answerOf(rpc, call))) : answers, from);
}

function callsFor(height: bigint): RpcCall[] {
  return ["commit", "block"].map((method) => ({ method, params: { height: `${height}` } }));
}

function blocksOf(answers: readonly unknown[], from: bigint): WholeBlock[] {
  const found: WholeBlock[] = [];
  for (let i = 0; i < answers.length; i += 2) {
    const [votes, content] = answers.slice(i, i + 2);
    const refusal = [votes, content].find((each) => each instanceof RpcError);
    if (refusal !== undefined) {
      if (i === 0) requireNotYet(refusal, from);
      break;
    }
    const signed = readSignedHeader(readAnswer(commit, "commit", votes).signed_header);
    const txs = readAnswer(block, "block", content).block.data.txs.map((tx) => fromBase64(tx));
    found.push({ ...signed, txs });
  }
  return found;
}

function answerOf(rpc: RpcClient, { method, params }: RpcCall): Promise<unknown> {
  return rpc.call(method, params).catch((error: unknown) => {
    if (error instanceof RpcError) return error;
    throw error;
  });
}

function requireNotYet(refusal: RpcError, height: bigint): void {
  const lowest = PRUNED.exec(refusal.data)?.[1];
  if (lowest !== undefined) throw clientErrors.pruned(`the node's first block is ${lowest}, not ${height}`);
  if (!NOT_YET.test(refusal.data)) throw refusal;
}
