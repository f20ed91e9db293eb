import { writeFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { defaultParams } from "../../src/modules/deployment/params.ts";
import { MAX_FAR_NUMBERS } from "../../src/modules/deployment/pruning.ts";
import { firstEntry } from "../../src/store/index.ts";
import type { TestKey, TestMessage } from "../../src/testing/index.ts";
import { ParamsSchema } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCreateDeploymentSchema,
} from "../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { MsgCreateBidSchema, MsgCreateLeaseSchema } from "../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgCreateProviderSchema } from "../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { toJson } from "../../src/wire/index.ts";
import { newChain } from "../gas/cases/index.ts";
import type { GasChain } from "../gas/chain.ts";
import { plainGroup } from "../gas/content.ts";
import { stateBytes } from "../gas/worst-block.ts";
import { coin, MIN_DEPOSIT, price } from "../support/chain/index.ts";
import { sized } from "../support/runs.ts";

/** Opened and closed in all; `npm run lab` makes a million. */
const DEPLOYMENTS = Number(process.env.SVC_TEST_PRUNED_DEPLOYMENTS ?? sized(400, 1_000));
/** Owners who each have one at a time, with a bid and a lease. */
const OWNERS = Number(process.env.SVC_TEST_PRUNED_OWNERS ?? 20);
/** A file that records the size of the state during the run. */
const RECORD = process.env.SVC_TEST_PRUNED_RECORD;
const SIZES_RECORDED = 20;
const RETENTION_BLOCKS = 6;
/** Until this round the state grows with records that wait for removal. */
const FULL_AFTER_ROUNDS = 10;

interface People {
  readonly owners: readonly TestKey[];
  readonly provider: TestKey;
}

function shortMemory(): GasChain {
  const params = { ...Object(toJson(ParamsSchema, defaultParams())), retention_blocks: String(RETENTION_BLOCKS) };
  return newChain({ appState: { deployment: { params } } });
}

/** Every owner opens a deployment of this number; each gets a provider, and all are closed. */
function openAndClose(chain: GasChain, dseq: bigint, { owners, provider }: People): void {
  const idOf = ({ address }: TestKey) => ({ owner: address, dseq });
  const orderOf = (owner: TestKey) => ({ ...idOf(owner), gseq: 1, oseq: 1 });
  const everyone = (message: (owner: TestKey) => TestMessage) =>
    chain.mustRun(...owners.map((owner) => ({ messages: [message(owner)], signers: [owner] })));
  const [deposit, version] = [coin(MIN_DEPOSIT), new Uint8Array(32).fill(1)];
  everyone((owner) =>
    create(MsgCreateDeploymentSchema, { id: idOf(owner), groups: [plainGroup("web")], version, deposit }),
  );
  const terms = { provider: provider.address, price: price("0.5"), deposit };
  chain.mustSend(
    provider,
    owners.map((owner) => create(MsgCreateBidSchema, { ...terms, order: orderOf(owner) })),
  );
  everyone((owner) => create(MsgCreateLeaseSchema, { bidId: { ...orderOf(owner), provider: provider.address } }));
  everyone((owner) => create(MsgCloseDeploymentSchema, { id: idOf(owner) }));
}

/** The size of the state after every twentieth of the deployments, in a file if one is named. */
class Sizes {
  readonly #chain: GasChain;
  readonly #sizes: object[] = [];
  readonly #began = performance.now();

  constructor(chain: GasChain) {
    this.#chain = chain;
  }

  note(deployments: number): void {
    const due = Math.ceil((DEPLOYMENTS * (this.#sizes.length + 1)) / SIZES_RECORDED);
    if (RECORD === undefined || deployments < due) return;
    const { user, system } = process.cpuUsage();
    this.#sizes.push({ deployments, blocks: Number(this.#chain.height), stateBytes: stateBytes(this.#chain) });
    const seconds = Math.round((performance.now() - this.#began) / 1000);
    const taken = { date: new Date().toISOString(), owners: OWNERS, retentionBlocks: RETENTION_BLOCKS };
    const cost = { seconds, cpuSeconds: Math.round((user + system) / 1_000_000) };
    writeFileSync(RECORD, `${JSON.stringify({ run: "pruned", ...taken, ...cost, sizes: this.#sizes }, null, 2)}\n`);
  }
}

it(`${DEPLOYMENTS} deployments that were opened and closed leave a state as large as the open ones`, {
  timeout: 60_000 + DEPLOYMENTS * 100,
}, () => {
  const chain = shortMemory();
  const provider = chain.key("provider0");
  chain.mustSend(provider, [create(MsgCreateProviderSchema, { owner: provider.address, hostUri: "https://p.test" })]);
  const before = stateBytes(chain);
  let full = 0;
  const sizes = new Sizes(chain);
  const owners = Array.from({ length: OWNERS }, (_, i) => chain.key(`sponsor${i}`));
  for (let round = 0; round * OWNERS < DEPLOYMENTS; round++) {
    openAndClose(chain, BigInt(round + 1), { owners, provider });
    if (round === FULL_AFTER_ROUNDS) full = stateBytes(chain);
    sizes.note((round + 1) * OWNERS);
  }
  const last = stateBytes(chain);
  console.log(`${DEPLOYMENTS} deployments: ${before} bytes before, ${full} when full, ${last} at the end`);
  // Records that wait for removal, and numbers with more digits.
  expect(full).toBeGreaterThan(before + 10_000);
  expect(last).toBeLessThan(full * 1.1);
  for (let i = 0; i < 4 * RETENTION_BLOCKS; i++) chain.block([]);
  // The rest: the number of each owner's last deployment, public keys, and longer numbers in accounts.
  expect(stateBytes(chain) - before).toBeLessThan(OWNERS * 200);
  expect(firstEntry(chain.app.state.store("market"))).toBeDefined();
});

/** Numbers that each owner tries in this attack, all far above the height. */
const FAR_NUMBERS = 150;

it("numbers far above the height leave a bounded number of records of an owner, who is then refused and pays", {
  timeout: 120_000,
}, () => {
  const chain = shortMemory();
  const owners = Array.from({ length: 3 }, (_, i) => chain.key(`sponsor${i}`));
  // Public keys and accounts are in the state from the first transaction on.
  chain.mustRun(...owners.map((owner) => ({ messages: openedAndClosed(owner, 1n), signers: [owner] })));
  for (let i = 0; i < 2 * RETENTION_BLOCKS; i++) chain.block([]);
  const before = stateBytes(chain);
  let refused = 0;
  for (let i = 0; i < FAR_NUMBERS; i++) {
    // From the largest number down: no watermark could represent them.
    const txs = owners.map((owner) => ({
      messages: openedAndClosed(owner, 2n ** 64n - 1n - BigInt(i)),
      signers: [owner],
    }));
    const { results } = chain.block(txs.map((tx) => chain.sign(tx)));
    for (const { codespace, code, gasUsed } of results) {
      if (code === 0) continue;
      expect([codespace, code]).toEqual(["deployment", 27]);
      expect(gasUsed).toBeGreaterThan(50_000n);
      refused += 1;
    }
  }
  for (let i = 0; i < 2 * RETENTION_BLOCKS; i++) chain.block([]);
  expect(refused).toBe(owners.length * (FAR_NUMBERS - MAX_FAR_NUMBERS));
  expect(stateBytes(chain) - before).toBeLessThan(owners.length * (MAX_FAR_NUMBERS * 31 + 100));
  // The numbers that clients choose can still be used.
  chain.mustRun(...owners.map((owner) => ({ messages: openedAndClosed(owner, chain.height), signers: [owner] })));
});

function openedAndClosed({ address: owner }: TestKey, dseq: bigint): TestMessage[] {
  const [id, deposit, version] = [{ owner, dseq }, coin(MIN_DEPOSIT), new Uint8Array(32).fill(1)];
  return [
    create(MsgCreateDeploymentSchema, { id, groups: [plainGroup("web")], version, deposit }),
    create(MsgCloseDeploymentSchema, { id }),
  ];
}
