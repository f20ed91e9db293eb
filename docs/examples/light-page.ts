// Part of a page: shows a balance that the node has to prove, with a trusted block that came with the page.
import { ChainClient } from "svc";
import { LightClient, provenQueries, rpcSource, type TrustRoot } from "svc/light";
import { Query } from "svc/proto/sdk/bank/v1beta1/query";

/** The balance in utoken and the height of the state; rejects if the node cannot prove it. */
export async function provenBalance(
  node: string,
  root: TrustRoot,
  address: string,
): Promise<readonly [string, bigint]> {
  const chain = new ChainClient(node);
  try {
    const light = new LightClient({ chainId: await chain.chainId(), root, primary: rpcSource(chain.rpc) });
    const query = provenQueries(chain, light, { required: true });
    const { value, height } = await query.callAt(Query.method.balance, { address, denom: "utoken" });
    return [value.balance?.amount ?? "0", height];
  } finally {
    chain.close();
  }
}
