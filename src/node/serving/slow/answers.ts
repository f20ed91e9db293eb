import type { AppQuery, AppQueryResult } from "../../../abci/index.ts";
import type { ChainSource } from "../../../engine/index.ts";
import { GivenUp } from "../../../runtime/index.ts";
import { Dispatcher, refusedQuery } from "../../dispatch.ts";
import { genesisFile } from "../../home/genesis.ts";
import { urlHost } from "../../http/index.ts";
import { runMethod } from "../../rpc/calls/jsonrpc.ts";
import { rpcErrorOf } from "../../rpc/calls/method.ts";
import { RPC_METHODS } from "../../rpc/methods/index.ts";
import { CommitWaiters } from "../../services/commit-waiters.ts";
import type { ThreadData } from "../entry.ts";
import { MAX_QUERY_ANSWER_BYTES } from "../limits.ts";
import { nodeInfoOf } from "../servers/index.ts";
import { type SlowAnswer, type SlowJob, tooSlow } from "./slow-thread.ts";

/** Answers jobs in the thread for slow queries, each with a chain that has its own budget. Never rejects. */
export function answersOf(data: ThreadData, chainOf: () => ChainSource) {
  const { host, port } = data.config.rpc;
  return async (job: SlowJob): Promise<SlowAnswer> => {
    const chain = chainOf();
    const nodeInfo = nodeInfoOf({ ...data, chain }, () => `tcp://${urlHost(host)}:${port}`);
    const dispatcher = new Dispatcher({ chain, nodeInfo });
    const query = (asked: AppQuery) => answerQuery(chain, dispatcher, asked);
    if ("query" in job) return { result: await query(job.query) };
    const env = {
      chain,
      nodeInfo,
      genesis: genesisFile(data.home),
      query,
      waiters: new CommitWaiters(chain.events),
    };
    try {
      return { text: await runMethod(env, job.call, RPC_METHODS) };
    } catch (error) {
      const { code, message, data } = rpcErrorOf(error instanceof GivenUp ? tooSlow(error.message) : error);
      return { error: { code, message, data } };
    }
  };
}

async function answerQuery(chain: ChainSource, dispatcher: Dispatcher, query: AppQuery): Promise<AppQueryResult> {
  const { height } = await chain.status();
  try {
    const answer = await dispatcher.query(query);
    if (answer.value.length <= MAX_QUERY_ANSWER_BYTES) return answer;
    return refusedQuery(tooSlow(`its answer has more than ${MAX_QUERY_ANSWER_BYTES} bytes`), height);
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error;
    return refusedQuery(tooSlow(error.message), height);
  }
}
