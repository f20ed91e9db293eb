import * as v from "valibot";
import { evidenceJson, readSignedHeader, readValidators, type Source } from "../../light/index.ts";
import type { Validator } from "../../wire/index.ts";
import { integer, readAnswer } from "../chain/answers.ts";
import { clientErrors, RpcError } from "../errors.ts";
import type { RpcClient } from "../rpc/rpc.ts";

/** The engine's own limit; more rows of a page are not answered. */
const PER_PAGE = 100;
const MAX_PAGES = 100;

const commit = v.object({ signed_header: v.unknown() });
const validatorPage = v.object({ validators: v.array(v.unknown()), total: integer });

/** Words of nodes for a height that they do not have, or do not have any more. */
const NO_HEIGHT = /less than or equal to the current|is not available|no block yet|could not find|not found/i;

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
