import { connect } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addGenesisValidator } from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { encodeAddress } from "../../src/wire/index.ts";
import { Fixture, freePorts, startNode } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** Queries of things that do not exist and of malformed addresses, asked of the reference chain and of the built node. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, refusals are not compared: ${missing}`,
  () => expect(missing).toBe(""),
);

/** A node, and an account and a validator that it has. */
interface Asked {
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

/** HTTP status and code of gRPC. */
type Verdict = "200" | "400 3" | "404 5" | "500 2" | "500 13" | "501 12";

/** A path below `/cosmos`, our verdict, and that of the reference where it differs. */
type Row = readonly [path: string, ours: Verdict, theirs?: Verdict];

/** What the reference reports as a fault of the node is the caller's here: see `docs/decisions/reference-differences.md`. */
const ROWS: readonly Row[] = [
  ["distribution/v1beta1/validators/<NO_VALIDATOR>", "400 3", "500 2"],
  ["distribution/v1beta1/validators/bad", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<ACCOUNT>", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<NO_VALIDATOR>/commission", "400 3", "500 2"],
  ["distribution/v1beta1/validators/bad/commission", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<NO_VALIDATOR>/outstanding_rewards", "400 3", "500 2"],
  ["distribution/v1beta1/validators/bad/outstanding_rewards", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<NO_VALIDATOR>/slashes", "200"],
  ["distribution/v1beta1/validators/bad/slashes", "400 3"],
  ["distribution/v1beta1/validators/<VALIDATOR>/slashes?starting_height=5&ending_height=2", "400 3"],
  ["distribution/v1beta1/validators/<VALIDATOR>/slashes?starting_height=x", "400 3"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards", "200"],
  ["distribution/v1beta1/delegators/bad/rewards", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards/<VALIDATOR>", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards/<NO_VALIDATOR>", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards/bad", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/validators", "200"],
  ["distribution/v1beta1/delegators/bad/validators", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/withdraw_address", "200"],
  ["distribution/v1beta1/delegators/bad/withdraw_address", "400 3", "500 2"],

  ["staking/v1beta1/validators/<NO_VALIDATOR>", "404 5"],
  ["staking/v1beta1/validators/bad", "400 3", "500 2"],
  ["staking/v1beta1/validators?status=none", "400 3"],
  ["staking/v1beta1/validators/<NO_VALIDATOR>/delegations", "200"],
  ["staking/v1beta1/validators/<NO_VALIDATOR>/unbonding_delegations", "200"],
  ["staking/v1beta1/validators/<NO_VALIDATOR>/delegations/<ACCOUNT>", "404 5"],
  ["staking/v1beta1/validators/<VALIDATOR>/delegations/<NOBODY>", "404 5"],
  ["staking/v1beta1/validators/<VALIDATOR>/delegations/bad", "400 3", "500 2"],
  ["staking/v1beta1/validators/<VALIDATOR>/delegations/<NOBODY>/unbonding_delegation", "404 5"],
  ["staking/v1beta1/delegations/<NOBODY>", "200"],
  ["staking/v1beta1/delegations/bad", "400 3", "500 2"],
  ["staking/v1beta1/delegators/<NOBODY>/validators", "200"],
  ["staking/v1beta1/delegators/<NOBODY>/validators/<VALIDATOR>", "404 5", "500 13"],
  ["staking/v1beta1/delegators/<NOBODY>/unbonding_delegations", "200"],
  ["staking/v1beta1/delegators/<NOBODY>/redelegations", "200"],
  ["staking/v1beta1/delegators/bad/redelegations", "400 3", "500 13"],
  ["staking/v1beta1/delegators/<ACCOUNT>/redelegations?src_validator_addr=<NO_VALIDATOR>", "200"],
  ["staking/v1beta1/delegators/<ACCOUNT>/redelegations?src_validator_addr=bad", "400 3", "200"],
  [
    "staking/v1beta1/delegators/<NOBODY>/redelegations?src_validator_addr=<VALIDATOR>&dst_validator_addr=<VALIDATOR>",
    ...(["404 5", "500 13"] as const),
  ],
  ["staking/v1beta1/historical_info/999999", "404 5"],
  ["staking/v1beta1/historical_info/0", "404 5"],
  ["staking/v1beta1/historical_info/-1", "400 3"],

  ["slashing/v1beta1/signing_infos/<NO_KEY>", "404 5"],
  ["slashing/v1beta1/signing_infos/bad", "400 3", "500 2"],
  ["mint/v1beta1/none", "501 12"],
  ["evidence/v1beta1/evidence/00", "404 5"],
  [`evidence/v1beta1/evidence/${"00".repeat(32)}`, "404 5"],
  ["evidence/v1beta1/evidence/zz", "400 3", "500 2"],

  ...["gov/v1", "gov/v1beta1"].flatMap((gov): Row[] => [
    [`${gov}/proposals/0`, "400 3"],
    [`${gov}/proposals/x`, "400 3"],
    [`${gov}/proposals/99`, "404 5"],
    [`${gov}/proposals/99/tally`, "404 5"],
    [`${gov}/proposals/99/votes`, "200"],
    [`${gov}/proposals/99/deposits`, "200"],
    [`${gov}/proposals/99/votes/<NOBODY>`, "400 3"],
    [`${gov}/proposals/99/votes/bad`, "400 3", "500 2"],
    [`${gov}/proposals/99/deposits/<NOBODY>`, "404 5"],
    [`${gov}/proposals/99/deposits/bad`, "400 3", "500 2"],
    [`${gov}/proposals?voter=<NOBODY>`, "200"],
    [`${gov}/proposals?voter=bad`, "400 3", "200"],
    [`${gov}/params/none`, "400 3"],
  ]),

  ["bank/v1beta1/balances/<NOBODY>", "200"],
  ["bank/v1beta1/balances/bad", "400 3"],
  ["bank/v1beta1/balances/<VALIDATOR>", "400 3"],
  ["bank/v1beta1/balances/<ACCOUNT>/by_denom?denom=none", "200"],
  ["bank/v1beta1/balances/<ACCOUNT>/by_denom?denom=-", "400 3"],
  ["bank/v1beta1/spendable_balances/bad", "400 3"],
  ["bank/v1beta1/supply/by_denom?denom=none", "200"],
  ["bank/v1beta1/supply/by_denom", "400 3"],
  ["bank/v1beta1/denoms_metadata/none", "404 5"],
  ["bank/v1beta1/denom_owners/none", "200"],
  ["bank/v1beta1/denom_owners/-", "400 3"],
  ["bank/v1beta1/send_enabled?denoms=none", "200"],

  ["auth/v1beta1/accounts/<NOBODY>", "404 5"],
  ["auth/v1beta1/accounts/bad", "400 3", "500 2"],
  ["auth/v1beta1/account_info/<NOBODY>", "404 5"],
  ["auth/v1beta1/address_by_id/0?account_id=999999", "404 5"],
  ["auth/v1beta1/address_by_id/1", "400 3"],
  ["auth/v1beta1/module_accounts/none", "404 5"],

  ["authz/v1beta1/grants?granter=<NOBODY>&grantee=<ACCOUNT>", "200"],
  ["authz/v1beta1/grants?granter=<NOBODY>&grantee=<ACCOUNT>&msg_type_url=none", "404 5", "500 2"],
  ["authz/v1beta1/grants?granter=bad&grantee=<ACCOUNT>", "400 3", "500 2"],
  ["authz/v1beta1/grants/granter/<NOBODY>", "200"],
  ["authz/v1beta1/grants/grantee/bad", "400 3", "500 2"],
  ["feegrant/v1beta1/allowance/<NOBODY>/<ACCOUNT>", "404 5", "500 13"],
  ["feegrant/v1beta1/allowance/bad/<ACCOUNT>", "400 3", "500 2"],
  ["feegrant/v1beta1/allowances/<NOBODY>", "200"],
  ["feegrant/v1beta1/issued/bad", "400 3", "500 2"],

  ["params/v1beta1/subspaces", "200"],
  ["params/v1beta1/params", "400 3"],
  ["params/v1beta1/params?subspace=none&key=x", "400 3", "500 2"],
  ["tx/v1beta1/txs/00", "404 5"],
  [`tx/v1beta1/txs/${"00".repeat(32)}`, "404 5"],
  ["tx/v1beta1/txs/zz", "400 3", "500 2"],
  ["tx/v1beta1/txs", "400 3", "500 13"],
  ["tx/v1beta1/txs/block/0", "400 3", "500 2"],
  ["base/tendermint/v1beta1/blocks/999999", "400 3"],
  ["base/tendermint/v1beta1/blocks/0", "400 3", "500 2"],
  ["base/tendermint/v1beta1/validatorsets/999999", "400 3"],
  ["base/tendermint/v1beta1/validatorsets/0", "400 3", "500 2"],
];

/**
 * A call below `cosmos.`, the texts of its request, and the codes of gRPC: ours, and theirs where they differ; last what
 * theirs is over the engine, where that is not what carries its code.
 */
type Call = readonly [method: string, texts: readonly string[], ours: number, theirs?: number, carried?: string];

const CALLS: readonly Call[] = [
  ["distribution.v1beta1.Query/ValidatorCommission", ["<NO_VALIDATOR>"], 3, 2],
  ["distribution.v1beta1.Query/ValidatorCommission", ["bad"], 3, 2, "sdk/18"],
  ["distribution.v1beta1.Query/ValidatorSlashes", ["bad"], 3],
  ["distribution.v1beta1.Query/DelegationRewards", ["<NOBODY>", "<VALIDATOR>"], 3, 2],
  ["distribution.v1beta1.Query/DelegatorWithdrawAddress", [], 3],
  ["staking.v1beta1.Query/Validator", ["<NO_VALIDATOR>"], 5],
  ["staking.v1beta1.Query/DelegatorValidator", ["<NOBODY>", "<VALIDATOR>"], 5, 13],
  ["slashing.v1beta1.Query/SigningInfo", ["<NO_KEY>"], 5],
  ["bank.v1beta1.Query/Balance", ["<NOBODY>", "-"], 3],
  ["bank.v1beta1.Query/DenomMetadata", ["none"], 5],
  ["auth.v1beta1.Query/Account", ["<NOBODY>"], 5],
  ["authz.v1beta1.Query/Grants", ["<NOBODY>", "<ACCOUNT>", "none"], 5, 2],
  ["feegrant.v1beta1.Query/Allowance", ["<NOBODY>", "<ACCOUNT>"], 5, 13],
  ["bank.v1beta1.Query/Nothing", [], 12],
];

/** Words of `query`; both tools refuse them. */
const COMMANDS: readonly string[] = [
  "distribution commission <NO_VALIDATOR>",
  "distribution commission bad",
  "distribution slashes bad 1 2",
  "staking validator <NO_VALIDATOR>",
  "staking delegation <NOBODY> <VALIDATOR>",
  "slashing signing-info <NO_KEY>",
  "gov proposal 99",
  "auth account <NOBODY>",
  "bank balances bad",
  "feegrant grant <NOBODY> <ACCOUNT>",
];

function filled(text: string, { account, validator }: Pick<Asked, "account" | "validator">): string {
  const words = { ACCOUNT: account, VALIDATOR: validator, NOBODY, NO_VALIDATOR, NO_KEY };
  return Object.entries(words).reduce((all, [name, value]) => all.replaceAll(`<${name}>`, value), text);
}

/** A request whose fields are texts, numbered from 1. */
function requestOf(texts: readonly string[], node: Asked): Buffer {
  const fields = texts.map((text, i) => {
    const bytes = Buffer.from(filled(text, node));
    return Buffer.concat([Buffer.of(8 * (i + 1) + 2, bytes.length), bytes]);
  });
  return Buffer.concat(fields);
}

/** Whether a refusal says that something is not there, or that the question is wrong. */
function kindOf(text: string): "missing" | "wrong" {
  return /not found|n[o']t exist|no delegation|client metadata for|unknown subspace|no subspace/.test(text)
    ? "missing"
    : "wrong";
}

interface Told {
  readonly verdict: string;
  /** Undefined when it was not refused. */
  readonly kind: string | undefined;
}

async function get(node: Asked, path: string): Promise<Told> {
  const response = await fetch(`${node.rest}/cosmos/${filled(path, node)}`);
  const { code, message } = (await response.json()) as { readonly code?: number; readonly message?: string };
  if (response.ok) return { verdict: `${response.status}`, kind: undefined };
  return { verdict: `${response.status} ${code}`, kind: kindOf(message ?? "") };
}

/** The status of gRPC that a call ends with. */
async function call(node: Asked, path: string, body: Buffer): Promise<number> {
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

/** The code that the application refuses a call with, asked by way of the engine. */
async function abci(node: Asked, path: string, body: Buffer): Promise<string> {
  const query = `path=%22/cosmos.${path}%22&data=0x${body.toString("hex")}`;
  const { result } = (await (await fetch(`${node.rpc}/abci_query?${query}`)).json()) as {
    readonly result: { readonly response: { readonly codespace: string; readonly code: number } };
  };
  return `${result.response.codespace}/${result.response.code}`;
}

/** How the ecosystem carries codes of gRPC over the interface of the engine. */
const CARRIERS: Readonly<Record<number, string>> = { 2: "sdk/6", 3: "sdk/18", 5: "sdk/22", 12: "sdk/6", 13: "sdk/6" };

describe.skipIf(!(built instanceof Peer))("refusals of queries", () => {
  const fixture = new Fixture();
  let chain: SimdChain;
  let theirs: Asked;
  let ours: Asked;

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    chain = await startSimdChain(built, { accounts: ["alice"], prefix: "svc" });
    const { address, grpcPort, rest } = await startOurs();
    theirs = {
      rest: chain.api,
      rpc: chain.url.replace("tcp:", "http:"),
      grpcPort: chain.grpcPort,
      account: chain.address("alice"),
      validator: chain.validator,
    };
    const { validators } = (await (await fetch(`${rest}/cosmos/staking/v1beta1/validators`)).json()) as {
      readonly validators: readonly { readonly operator_address: string }[];
    };
    const validator = validators[0]?.operator_address ?? "";
    ours = { rest, rpc: address.replace("tcp:", "http:"), grpcPort, account: testKey("alice").address, validator };
  }, 120_000);
  afterAll(async () => {
    await chain?.stop();
    await fixture.close();
  });

  async function startOurs() {
    const operator = testKey("alice").address;
    const coins = [{ denom: "utoken", amount: 10n ** 12n }];
    const bonded = { denom: "utoken", amount: 10n ** 11n };
    const [port = 0, grpcPort = 0] = await freePorts(2);
    const node = await startNode(fixture, {
      accounts: [{ address: operator, coins }],
      editHome: (home) => addGenesisValidator(home, { operator, bonded }),
      flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`, "--grpc.address", `127.0.0.1:${grpcPort}`],
    });
    return { address: node.address, rest: `http://127.0.0.1:${port}`, grpcPort };
  }

  const rows = ROWS.map(([path, mine, other = mine]) => ({ path, mine, other }));
  test.each(rows)("$path is answered by REST with $mine", async ({ path, mine, other }) => {
    const [a, b] = [await get(ours, path), await get(theirs, path)];
    expect([a.verdict, b.verdict]).toEqual([mine, other]);
    if (a.kind !== undefined && b.kind !== undefined) expect(a.kind).toBe(b.kind);
  });

  const calls = CALLS.map(([method, texts, mine, other = mine, carried = CARRIERS[other]]) => ({
    ...{ method, texts, statuses: [mine, other], codes: [CARRIERS[mine], carried] },
  }));
  test.each(calls)("$method of $texts ends with $statuses", async ({ method, texts, statuses, codes }) => {
    const [a, b] = [requestOf(texts, ours), requestOf(texts, theirs)];
    expect([await call(ours, method, a), await call(theirs, method, b)]).toEqual(statuses);
    expect([await abci(ours, method, a), await abci(theirs, method, b)]).toEqual(codes);
  });

  test.each(COMMANDS)("both tools refuse: query %s", async (words) => {
    const command = ["query", ...filled(words, theirs).split(" ")];
    const [a, b] = [await chain.svc(command), await chain.run(command)];
    expect([a.code, a.stdout, b.code, b.out]).toEqual([expect.toBeOneOf([1, 2]), "", 1, ""]);
    expect(kindOf(a.stderr)).toBe(kindOf(b.err));
  });
});
