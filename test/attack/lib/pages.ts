import type { AttackedNode } from "./attacked-node.ts";
import { multiSends } from "./large.ts";
import { callText } from "./sockets.ts";

const GAS = 10n ** 8n;
/** Strangers paid by one transaction: with its events, each makes some 900 bytes of an answer. */
const PAID = 4_000;

/** Makes blocks that are large to read: each of the senders pays thousands of strangers, one transaction each. */
export async function payMany(node: AttackedNode, senders: readonly string[]): Promise<void> {
  for (const [i, name] of senders.entries()) {
    await node.mustSend(name, multiSends(node.key(name).address, { first: i * PAID, count: PAID }), { gas: GAS });
  }
}

/** The call that asks for a page of all transactions. */
export function pageCall(perPage: number, id: number | string = 1): string {
  return callText("tx_search", { query: "tx.height>0", per_page: `${perPage}` }, id);
}
