import { addGenesisValidator } from "../../src/node/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import { encodeAddress, type JsonObject } from "../../src/wire/index.ts";
import { type Fixture, freePorts, startNode, type TestNode } from "../support/index.ts";
import { simulateMarket } from "../support/market-run.ts";

/** A running node whose chain continues from the end of a random market, with a bonded validator. */
export interface BusyNode {
  readonly node: TestNode;
  /** URL of REST. */
  readonly rest: string;
  /** Host and port of gRPC. */
  readonly grpc: string;
  /** Who operates the validator and holds coins. */
  readonly operator: TestKey;
  /** bech32 */
  readonly validator: string;
  /** Who deployed and provided in the market. */
  readonly accounts: readonly TestKey[];
}

const BLOCKS = 40;
const BONDED = 5_000_000_000n;

export async function startBusyNode(fixture: Fixture, seed: number): Promise<BusyNode> {
  const { chain } = simulateMarket(seed, BLOCKS);
  const operator = chain.key("alice");
  const [rest, grpc] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  if (rest === undefined || grpc === undefined) throw new Error("there is no free port");
  const node = await startNode(fixture, {
    editGenesis: (genesis) => {
      Object.assign(genesis, { initial_height: `${chain.height + 1n}` });
      Object.assign(genesis.app_state, chain.app.exportGenesis() satisfies JsonObject);
      // The validator that is added is new to the other modules.
      Object.assign(genesis.app_state.staking ?? {}, { exported: false });
    },
    editHome: (home) => {
      addGenesisValidator(home, { operator: operator.address, bonded: { denom: "utoken", amount: BONDED } });
    },
    flags: [
      ...["--api.enable", "--api.address", `tcp://${rest}`, "--api.enabled-unsafe-cors"],
      ...["--rpc.cors-allowed-origins", "*", "--grpc.address", grpc],
    ],
  });
  return {
    node,
    rest: `http://${rest}`,
    grpc,
    operator,
    validator: encodeAddress(operator.bytes, "valoper"),
    accounts: [...chain.keys.values()],
  };
}
