import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { sized } from "../../../test/support/runs.ts";
import { marketOperations } from "../../../test/support/simulation/market.ts";
import { pickOperation, type SimAction, simRandom } from "../../../test/support/simulation/operation.ts";
import { DEFAULT_CONSENSUS_PARAMS, type FinalizeBlock, NO_VOTERS } from "../../abci/index.ts";
import { createApp, type SvcApplication } from "../../app/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { testChain } from "../../testing/index.ts";
import { toHex } from "../../util/index.ts";
import { CoinSchema } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { GenesisStateSchema as DeploymentGenesis } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { toJson } from "../../wire/index.ts";
import { defaultParams as deploymentParams } from "../deployment/params.ts";

const BLOCKS = sized(50, 120);
const SEED = Number(process.env.MARKET_SIM_SEED ?? 4712);
/** The second node starts anew behind this many blocks. */
const RESTART = 3;
/** Here it is another node that begins with an export of the state. */
const IMPORT = 11;

test("a node that has seen and answered everything and one that restarts again and again agree byte for byte", () => {
  console.log(`caches: seed ${SEED}`);
  const deployment = {
    ...deploymentParams(),
    minDeposits: [create(CoinSchema, { denom: "utoken", amount: "1" })],
    minStartBlocks: 2n,
    retentionBlocks: 12n,
    maxPruneRecords: 3,
  };
  const chain = testChain({
    accounts: ["alice", "bob", "p1", "p2", "p3"],
    genesis: { deployment: toJson(DeploymentGenesis, create(DeploymentGenesis, { params: deployment })) },
  });
  let database = memoryDatabase();
  let cold: SvcApplication = createApp({ database });
  const importHere = (): void => {
    const start = { chainId: chain.chainId, time: chain.time, initialHeight: chain.height + 1n, validators: [] };
    const appState = chain.app.exportGenesis();
    const consensusParams = chain.app.consensusParams ?? DEFAULT_CONSENSUS_PARAMS;
    const { appHash } = cold.initChain({ ...start, consensusParams, appState });
    expect(toHex(appHash)).toBe(toHex(chain.hashOfModules()));
  };
  importHere();

  const random = simRandom(SEED);
  const keys = new Map([...chain.keys.values()].map((key) => [key.address, key]));
  const addresses = (names: readonly string[]) => names.map((name) => chain.key(name).address);
  const sim = {
    random,
    tenants: addresses(["alice", "bob"]),
    height: () => chain.height,
    providers: addresses(["p1", "p2", "p3"]),
    query: chain.query.bind(chain),
  };
  const request = (txs: readonly Uint8Array[]): FinalizeBlock => ({
    ...NO_VOTERS,
    txs,
    height: chain.height + 1n,
    time: chain.time + 6_000_000_000n,
    proposer: new Uint8Array(20).fill(7),
    hash: new Uint8Array(32),
  });
  let done = 0;
  for (let block = 0; block < BLOCKS; block++) {
    const planned = new Map<string, SimAction["message"][]>();
    for (let i = random.int(8); i > 0; i--) {
      const action = pickOperation(marketOperations, random)?.build(sim);
      const messages = planned.get(action?.signer ?? "") ?? [];
      if (action !== undefined && messages.length < 2) planned.set(action.signer, [...messages, action.message]);
    }
    const txs = [...planned].map(([address, messages]) => {
      const from = keys.get(address);
      if (from === undefined) throw new Error(`nobody signs for ${address}`);
      // Some run out of gas somewhere in the middle.
      return chain.sign(messages, {
        from,
        gas: random.int(5) === 0 ? 60_000n + BigInt(random.int(200_000)) : 5_000_000n,
      });
    });
    for (const tx of txs) chain.app.checkTx({ tx, kind: "new" });
    const next = request(txs);
    if (block > 0 && block % IMPORT === 0) {
      database = memoryDatabase();
      cold = createApp({ database });
      importHere();
    } else if (block > 0 && block % RESTART === 0) cold = createApp({ database });
    const other = cold.finalizeBlock(next);
    cold.commit();
    const results = chain.block(txs);
    expect(other.txResults).toEqual(results);
    expect(other.events).toEqual(chain.blockEvents);
    expect(toHex(other.appHash)).toBe(toHex(chain.app.info().lastBlockAppHash));
    done += results.filter(({ code }) => code === 0).length;
  }
  expect(done).toBeGreaterThan(BLOCKS / 6);
});
