import { connect } from "node:http2";
import { addGenesisValidator } from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { encodeAddress } from "../../src/wire/index.ts";
import { type Fixture, freePorts, startNode } from "../support/index.ts";
import type { Peer } from "./peers.ts";
import { type SimdChain, type SimdChainOptions, startSimdChain } from "./simd-chain.ts";

/** The same questions for a chain of the reference tool and for a built node. */

/** A node, and an account and a validator that it has. */
export interface Asked {
  readonly rest: string;
  readonly rpc: string;
  readonly grpcPort: number;
  readonly account: string;
  readonly validator: string;
}

const NONE = new Uint8Array(20).fill(9);
const NOBODY = encodeAddress(NONE);
const NO_VALIDATOR = encodeAddress(NONE, "valoper");
const NO_KEY = encodeAddress(NONE, "valcons");

/** A text with words of a node in place of their names. */
export function filled(text: string, { account, validator }: Pick<Asked, "account" | "validator">): string {
  const words = { ACCOUNT: account, VALIDATOR: validator, NOBODY, NO_VALIDATOR, NO_KEY };
  return Object.entries(words).reduce((all, [name, value]) => all.replaceAll(`<${name}>`, value), text);
}

/** The status of gRPC that a call ends with. */
export async function call(node: Asked, path: string, body: Uint8Array): Promise<number> {
  const session = connect(`http://127.0.0.1:${node.grpcPort}`);
  try {
    return await new Promise((resolve, reject) => {
      const headers = {
        ":method": "POST",
        ":path": `/cosmos.${path}`,
        "content-type": "application/grpc",
        te: "trailers",
      };
      const stream = session.request(headers);
      let status: unknown;
      const told = (fields: object) => {
        status = (fields as Record<string, unknown>)["grpc-status"] ?? status;
      };
      stream.on("response", told).on("trailers", told).on("error", reject);
      stream.on("end", () => resolve(Number(status))).resume();
      const length = Buffer.alloc(4);
      length.writeUInt32BE(body.length);
      stream.end(Buffer.concat([Buffer.of(0), length, body]));
    });
  } finally {
    session.close();
  }
}

/** Balance of `alice` besides the bonded coins. */
const OTHERS = ["aaa", "bbb", "ccc", "ddd"].map((denom) => ({ denom, amount: 1_000n }));

interface Both {
  readonly chain: SimdChain;
  readonly theirs: Asked;
  readonly ours: Asked;
}

/** A chain of the reference tool and a node of ours, each with a validator and the account `alice`. */
export async function startBoth(peer: Peer, fixture: Fixture, options: SimdChainOptions = {}): Promise<Both> {
  const others = OTHERS.map(({ denom, amount }) => `${amount}${denom}`);
  const balance = ["1000000000000stake", ...others].join(",");
  const chain = await startSimdChain(peer, { accounts: ["alice"], prefix: "svc", balance, ...options });
  fixture.defer(() => chain.stop());
  const theirs: Asked = {
    rest: chain.api,
    rpc: chain.url.replace("tcp:", "http:"),
    grpcPort: chain.grpcPort,
    account: chain.address("alice"),
    validator: chain.validator,
  };
  return { chain, theirs, ours: await startOurs(fixture) };
}

async function startOurs(fixture: Fixture): Promise<Asked> {
  const operator = testKey("alice").address;
  const coins = [...OTHERS, { denom: "utoken", amount: 10n ** 12n }];
  const bonded = { denom: "utoken", amount: 10n ** 11n };
  const [port = 0, grpcPort = 0] = await freePorts(2);
  const { address } = await startNode(fixture, {
    accounts: [{ address: operator, coins }],
    editHome: (home) => addGenesisValidator(home, { operator, bonded }),
    flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`, "--grpc.address", `127.0.0.1:${grpcPort}`],
  });
  const rest = `http://127.0.0.1:${port}`;
  const { validators } = (await (await fetch(`${rest}/cosmos/staking/v1beta1/validators`)).json()) as {
    readonly validators: readonly { readonly operator_address: string }[];
  };
  const validator = validators[0]?.operator_address ?? "";
  return { rest, rpc: address.replace("tcp:", "http:"), grpcPort, account: operator, validator };
}
