import { expect, it } from "vitest";
import type { LeaseRecord } from "../../client/index.ts";
import { silentLogger } from "../../util/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import type { ClusterDriver } from "../cluster/index.ts";
import { type ReconciledLeases, reconcile } from "./reconcile.ts";

const lease = (dseq: bigint): LeaseKey => ({ owner: "svc1tenant", dseq, gseq: 1, oseq: 1, provider: "svc1provider" });

function record(id: LeaseKey, closedOn: bigint): LeaseRecord {
  const state = closedOn === 0n ? "active" : "closed";
  return { id, state, price: { denom: "utoken", amount: 1n }, createdAt: 1n, closedOn, closeReason: "" };
}

it("knows won leases although the end of another, whose record was lost, cannot be written", async () => {
  const won: bigint[] = [];
  const ended: bigint[] = [];
  const leases: ReconciledLeases = {
    records: () => [],
    leaseWon: ({ dseq }) => won.push(dseq),
    leaseAdopted: () => {},
    leaseForgotten: () => Promise.resolve(),
    closeWithProof: ({ dseq }) => {
      ended.push(dseq);
      return Promise.reject(new Error("ENOSPC: no space left on device"));
    },
  };
  const chain: Pick<ChainView, "activeLeases" | "lease"> = {
    activeLeases: () => Promise.resolve([record(lease(3n), 0n)]),
    lease: (id) => Promise.resolve(record(id, 44n)),
  };
  const orphans = [1n, 2n].map((dseq) => ({ id: lease(dseq), version: "", generation: 1, spec: undefined }));
  const driver: Pick<ClusterDriver, "adopt"> = { adopt: () => Promise.resolve(orphans) };
  const { orphans: found } = await reconcile({
    chain: chain as ChainView,
    driver: driver as ClusterDriver,
    log: silentLogger,
    provider: "svc1provider",
    leases,
  });
  expect([won, ended, found?.length]).toEqual([[3n], [1n, 2n], 2]);
});
