import { create } from "@bufbuild/protobuf";
import { MsgCreateDeploymentSchema } from "../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { coin } from "../support/chain/index.ts";
import { newChain, TENANT } from "./cases/index.ts";
import type { GasChain, GasChainOptions } from "./chain.ts";
import { plainGroup } from "./content.ts";

const STORES = ["auth", "bank", "escrow", "deployment", "market", "provider", "audit", "cert"];

/** Bytes of keys and values of the state. */
export function stateBytes({ app }: GasChain): number {
  let bytes = 0;
  for (const name of STORES)
    for (const [key, value] of app.state.store(name).iterate()) bytes += key.length + value.length;
  return bytes;
}

/** More deployments of one small group than fit into a block. */
export function smallDeployments(options: Required<Pick<GasChainOptions, "database" | "maxGas">>) {
  const chain = newChain(options);
  const tenant = chain.key(TENANT);
  const count = Number(options.maxGas / 60_000n);
  const txs = Array.from({ length: count }, (_, i) => {
    const message = create(MsgCreateDeploymentSchema, {
      id: { owner: tenant.address, dseq: BigInt(i + 1) },
      groups: [plainGroup("web")],
      version: new Uint8Array(32).fill(1),
      deposit: coin(5_000_000n),
    });
    return chain.sign({ messages: [message], signers: [tenant], gas: 100_000n });
  });
  return { chain, txs };
}
