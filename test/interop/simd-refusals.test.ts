import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/app/index.ts";
import { ChainClient } from "../../src/client/index.ts";
import { requestMessage } from "../../src/node/rest/request.ts";
import { RouteTable, routesOf } from "../../src/node/rest/routes.ts";
import { NODE_SERVICES } from "../../src/node/services/index.ts";
import { memoryDatabase } from "../../src/store/index.ts";
import { ReflectionService } from "../../src/wire/gen/sdk/base/reflection/v1beta1/reflection_pb.js";
import { encodeMessage, findMethod, httpRule, methodPath } from "../../src/wire/index.ts";
import { Fixture } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type Asked, call, filled, startBoth } from "./simd-asked.ts";
import type { SimdChain } from "./simd-chain.ts";

/** Queries of things that do not exist and of malformed addresses, asked of the reference chain and of the built node. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, refusals are not compared: ${missing}`,
  () => expect(missing).toBe(""),
);

/** HTTP status and code of gRPC. */
type Verdict = "200" | "400 3" | "404 5" | "500 2" | "500 13" | "501 12";

/** A path below `/cosmos`, our verdict, and the reference's where it differs. */
type Row = readonly [path: string, ours: Verdict, theirs?: Verdict];

/** Cases that the reference blames on the node and we on the caller: see `docs/decisions/reference-differences.md`. */
const ROWS: readonly Row[] = [
  ["distribution/v1beta1/validators/<NO_VALIDATOR>", "404 5", "500 2"],
  ["distribution/v1beta1/validators/bad", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<ACCOUNT>", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<NO_VALIDATOR>/commission", "404 5", "500 2"],
  ["distribution/v1beta1/validators/bad/commission", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<NO_VALIDATOR>/outstanding_rewards", "404 5", "500 2"],
  ["distribution/v1beta1/validators/bad/outstanding_rewards", "400 3", "500 2"],
  ["distribution/v1beta1/validators/<NO_VALIDATOR>/slashes", "200"],
  ["distribution/v1beta1/validators/bad/slashes", "400 3"],
  ["distribution/v1beta1/validators/<VALIDATOR>/slashes?starting_height=5&ending_height=2", "400 3"],
  ["distribution/v1beta1/validators/<VALIDATOR>/slashes?starting_height=x", "400 3"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards", "200"],
  ["distribution/v1beta1/delegators/bad/rewards", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards/<VALIDATOR>", "404 5", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards/<NO_VALIDATOR>", "404 5", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/rewards/bad", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/validators", "200"],
  ["distribution/v1beta1/delegators/bad/validators", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<NOBODY>/withdraw_address", "200"],
  ["distribution/v1beta1/delegators/bad/withdraw_address", "400 3", "500 2"],

  ["distribution/v1beta1/delegators/bad/rewards/<VALIDATOR>", "400 3", "500 2"],
  ["distribution/v1beta1/delegators/<ACCOUNT>/rewards/<NO_VALIDATOR>", "404 5", "500 2"],

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
  ["staking/v1beta1/validators/<ACCOUNT>", "400 3", "500 2"],
  ["staking/v1beta1/validators/bad/delegations", "400 3", "500 2"],
  ["staking/v1beta1/validators/bad/unbonding_delegations", "400 3", "500 2"],
  ["staking/v1beta1/validators/bad/delegations/<ACCOUNT>", "400 3", "500 2"],
  ["staking/v1beta1/validators/bad/delegations/<ACCOUNT>/unbonding_delegation", "400 3", "500 2"],
  ["staking/v1beta1/validators/<VALIDATOR>/delegations/bad/unbonding_delegation", "400 3", "500 2"],
  ["staking/v1beta1/delegators/bad/validators", "400 3", "500 2"],
  ["staking/v1beta1/delegators/bad/validators/<VALIDATOR>", "400 3", "500 2"],
  ["staking/v1beta1/delegators/<NOBODY>/validators/bad", "400 3", "500 2"],
  ["staking/v1beta1/delegators/bad/unbonding_delegations", "400 3", "500 2"],
  ["staking/v1beta1/historical_info/x", "400 3"],
  ["staking/v1beta1/historical_info/99999999999999999999", "400 3"],
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
    [`${gov}/proposals?depositor=bad`, "400 3", "200"],
    [`${gov}/proposals?proposal_status=none`, "400 3"],
    [`${gov}/proposals?proposal_status=99`, "400 3", gov === "gov/v1" ? "400 3" : "200"],
    [`${gov}/proposals/0/tally`, "400 3"],
    [`${gov}/proposals/0/votes`, "400 3"],
    [`${gov}/proposals/0/deposits`, "400 3"],
    [`${gov}/proposals/0/votes/<NOBODY>`, "400 3"],
    [`${gov}/proposals/0/deposits/<NOBODY>`, "400 3"],
    [`${gov}/proposals/18446744073709551616`, "400 3"],
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

  ["bank/v1beta1/balances/bad/by_denom?denom=stake", "400 3"],
  ["bank/v1beta1/balances/<ACCOUNT>/by_denom", "400 3"],
  ["bank/v1beta1/spendable_balances/<NOBODY>", "200"],
  ["bank/v1beta1/spendable_balances/<ACCOUNT>/by_denom?denom=none", "200"],
  ["bank/v1beta1/spendable_balances/<ACCOUNT>/by_denom?denom=-", "400 3"],
  ["bank/v1beta1/spendable_balances/<ACCOUNT>/by_denom", "400 3"],
  ["bank/v1beta1/spendable_balances/bad/by_denom?denom=stake", "400 3"],
  ["bank/v1beta1/supply/by_denom?denom=-", "400 3"],
  ["bank/v1beta1/denoms_metadata/-", "400 3"],
  ["bank/v1beta1/denoms_metadata_by_query_string?denom=none", "404 5"],
  ["bank/v1beta1/denoms_metadata_by_query_string", "400 3"],
  ["bank/v1beta1/denom_owners_by_query?denom=none", "200"],
  ["bank/v1beta1/denom_owners_by_query?denom=-", "400 3"],
  ["bank/v1beta1/denom_owners_by_query", "400 3"],
  ["bank/v1beta1/send_enabled?denoms=-", "200"],

  ["auth/v1beta1/accounts/<NOBODY>", "404 5"],
  ["auth/v1beta1/accounts/<VALIDATOR>", "400 3", "500 2"],
  ["auth/v1beta1/account_info/bad", "400 3", "500 2"],
  ["auth/v1beta1/address_by_id/x", "400 3"],
  ["auth/v1beta1/address_by_id/0?account_id=x", "400 3"],
  ["auth/v1beta1/bech32/bad", "400 3"],
  ["auth/v1beta1/bech32/<VALIDATOR>", "400 3"],
  ["auth/v1beta1/bech32/<ACCOUNT>", "200", "400 3"],
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
  ["authz/v1beta1/grants?granter=<NOBODY>", "400 3", "500 2"],
  ["authz/v1beta1/grants/granter/bad", "400 3", "500 2"],
  ["authz/v1beta1/grants/grantee/<NOBODY>", "200"],
  ["feegrant/v1beta1/allowance/<ACCOUNT>/bad", "400 3", "500 2"],
  ["feegrant/v1beta1/allowances/bad", "400 3", "500 2"],
  ["feegrant/v1beta1/issued/<NOBODY>", "200"],
  ["feegrant/v1beta1/allowance/<NOBODY>/<ACCOUNT>", "404 5", "500 13"],
  ["feegrant/v1beta1/allowance/bad/<ACCOUNT>", "400 3", "500 2"],
  ["feegrant/v1beta1/allowances/<NOBODY>", "200"],
  ["feegrant/v1beta1/issued/bad", "400 3", "500 2"],

  ["upgrade/v1beta1/current_plan", "200", "501 12"],
  ["upgrade/v1beta1/applied_plan/none", "200", "501 12"],
  ["upgrade/v1beta1/module_versions?module_name=none", "404 5", "501 12"],
  ["params/v1beta1/subspaces", "200"],
  ["params/v1beta1/params", "400 3"],
  ["params/v1beta1/params?subspace=none&key=x", "404 5", "500 2"],
  ["params/v1beta1/params?subspace=staking&key=x", "404 5", "200"],
  ["tx/v1beta1/txs/00", "404 5"],
  [`tx/v1beta1/txs/${"00".repeat(32)}`, "404 5"],
  ["tx/v1beta1/txs/zz", "400 3", "500 2"],
  ["tx/v1beta1/txs", "400 3", "500 13"],
  ["tx/v1beta1/txs/block/0", "400 3", "500 2"],
  ["tx/v1beta1/txs/block/999999", "400 3", "500 2"],
  ["tx/v1beta1/txs/block/x", "400 3"],
  ["tx/v1beta1/txs?query=x", "400 3", "500 13"],
  ["tx/v1beta1/txs?query=tx.height%3E0&order_by=9", "400 3"],
  ["tx/v1beta1/txs?query=tx.height%3E0&order_by=none", "400 3"],
  ["tx/v1beta1/txs?query=tx.height%3E0&page=99", "400 3", "500 13"],
  ["tx/v1beta1/txs?events=tx.height%3E0", "200", "500 13"],
  ["base/reflection/v1beta1/interfaces/none/implementations", "404 5", "501 12"],
  ["base/tendermint/v1beta1/abci_query?path=/none", "400 3"],
  ["base/tendermint/v1beta1/abci_query", "400 3"],
  ["base/tendermint/v1beta1/blocks/x", "400 3"],
  ["base/tendermint/v1beta1/blocks/-1", "400 3", "500 2"],
  ["base/tendermint/v1beta1/validatorsets/x", "400 3"],
  ["base/tendermint/v1beta1/blocks/999999", "400 3"],
  ["base/tendermint/v1beta1/blocks/0", "400 3", "500 2"],
  ["base/tendermint/v1beta1/validatorsets/999999", "400 3"],
  ["base/tendermint/v1beta1/validatorsets/0", "400 3", "500 2"],
];

/**
 * A call below `cosmos.`, the texts of its request, and the gRPC codes: ours, and theirs if they differ; last, theirs
 * over the engine, if it differs from the usual carrier of its code.
 */
type Call = readonly [method: string, texts: readonly string[], ours: number, theirs?: number, carried?: string];

const CALLS: readonly Call[] = [
  ["distribution.v1beta1.Query/ValidatorCommission", ["<NO_VALIDATOR>"], 5, 2],
  ["distribution.v1beta1.Query/ValidatorCommission", ["bad"], 3, 2, "sdk/18"],
  ["distribution.v1beta1.Query/ValidatorSlashes", ["bad"], 3],
  ["distribution.v1beta1.Query/DelegationRewards", ["<NOBODY>", "<VALIDATOR>"], 5, 2],
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

/** Codes of the reference over gRPC that differ from REST's. */
const OVER_GRPC: Readonly<Record<string, number>> = {
  "base/reflection/v1beta1/interfaces/none/implementations": 0,
  "auth/v1beta1/bech32/bad": 2,
  "auth/v1beta1/bech32/<VALIDATOR>": 2,
  "auth/v1beta1/bech32/<ACCOUNT>": 0,
};

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

/** The code of gRPC of a verdict. */
function codeOf(verdict: Verdict): number {
  return Number(verdict.split(" ")[1] ?? 0);
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
  if (response.status === 501) return { verdict: `501 ${code}`, kind: undefined };
  return { verdict: `${response.status} ${code}`, kind: kindOf(message ?? "") };
}

/** Every rpc of the chain and of the node that both spellings name. */
const RPCS = [
  ...createApp({ database: memoryDatabase() }).rpcs.flatMap((path) => findMethod(path) ?? []),
  ...NODE_SERVICES.flatMap(({ methods }) => methods.map(({ method }) => method)),
].filter(({ parent }) => parent.typeName.startsWith("sdk."));
const ROUTES = new RouteTable(routesOf(RPCS.filter((method) => httpRule(method) !== undefined)));

/** The rpc of a path and its request; undefined where there is none, or where the path holds what no request can. */
function rpcOf(
  path: string,
  node: Pick<Asked, "account" | "validator">,
): { readonly method: string; readonly body: Uint8Array } | undefined {
  const [words = "", query = ""] = filled(path, node).split("?");
  const found = ROUTES.find("GET", ["sdk", ...words.split("/")]);
  if (found === undefined) return undefined;
  const { method } = found.route;
  try {
    const body = encodeMessage(method.input, requestMessage(found.route, { values: found.values, query, body: "" }));
    return { method: methodPath(method, "cosmos").replace("/cosmos.", ""), body };
  } catch {
    return undefined;
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
    if (built instanceof Peer) ({ chain, theirs, ours } = await startBoth(built, fixture));
  });
  afterAll(() => fixture.close());

  const rows = ROWS.map(([path, mine, other = mine]) => ({ path, mine, other }));
  test.each(rows)("$path is answered by REST with $mine", async ({ path, mine, other }) => {
    const [a, b] = [await get(ours, path), await get(theirs, path)];
    expect([a.verdict, b.verdict]).toEqual([mine, other]);
    if (a.kind !== undefined && b.kind !== undefined) expect(a.kind).toBe(b.kind);
  });

  const called = rows.filter(({ path }) => rpcOf(path, { account: "", validator: "" }) !== undefined);
  test.each(called)("$path is answered by gRPC with the same code", async ({ path, mine, other }) => {
    const codes = [ours, theirs].map((node) => {
      const { method, body } = rpcOf(path, node) ?? { method: "", body: new Uint8Array(0) };
      return call(node, method, body);
    });
    expect(await Promise.all(codes)).toEqual([codeOf(mine), OVER_GRPC[path] ?? codeOf(other)]);
  });

  test("every query that takes more than a page is asked for what is not there", () => {
    const node = { account: "", validator: "" };
    const asked = new Set(ROWS.map(([path]) => rpcOf(path, node)?.method));
    const left = RPCS.filter(
      (method) =>
        httpRule(method)?.pattern.case === "get" &&
        method.input.fields.some(({ message }) => message?.typeName !== "sdk.base.query.v1beta1.PageRequest") &&
        !asked.has(methodPath(method, "cosmos").replace("/cosmos.", "")),
    );
    // Both directions have one path.
    const shared = ["sdk.auth.v1beta1.Query/AddressStringToBytes"];
    expect(left.map(({ name, parent }) => `${parent.typeName}/${name}`)).toEqual(shared);
  });

  const calls = CALLS.map(([method, texts, mine, other = mine, carried = CARRIERS[other]]) => ({
    ...{ method, texts, statuses: [mine, other], codes: [CARRIERS[mine], carried] },
  }));
  test.each(calls)("$method of $texts ends with $statuses", async ({ method, texts, statuses, codes }) => {
    const [a, b] = [requestOf(texts, ours), requestOf(texts, theirs)];
    expect([await call(ours, method, a), await call(theirs, method, b)]).toEqual(statuses);
    expect([await abci(ours, method, a), await abci(theirs, method, b)]).toEqual(codes);
  });

  /** Answers of the rpc `ListImplementations`, by interface name. */
  const INTERFACES = [
    ...["auth.v1beta1.AccountI", "vesting.v1beta1.VestingAccount", "auth.v1beta1.GenesisAccount"],
    ...["base.v1beta1.Msg", "tx.v1beta1.Tx", "evidence.v1beta1.Evidence"],
    ...["authz.v1beta1.Authorization", "feegrant.v1beta1.FeeAllowanceI"],
  ];
  test.each(INTERFACES)("both list what implements %s", async (name) => {
    const { listImplementations: rpc } = ReflectionService.method;
    const names = [ours, theirs].map(async ({ rpc: url }) => {
      const client = new ChainClient(url.replace("http:", "tcp:"), { namespace: "cosmos" });
      const { implementationMessageNames } = await client.query.call(rpc, { interfaceName: `cosmos.${name}` });
      client.close();
      // The reference's program in these tests has no module for upgrades.
      return implementationMessageNames.filter((each) => /^\/cosmos\.(?!upgrade\.)/.test(each));
    });
    const [mine = [], other = []] = await Promise.all(names);
    expect(mine.toSorted()).toEqual(other.toSorted());
  });

  test("both give blocks in the same two forms", async () => {
    const forms = [ours, theirs].map(async ({ rest }) => {
      const answer = await fetch(`${rest}/cosmos/base/tendermint/v1beta1/blocks/latest`);
      const answered = (await answer.json()) as Record<"block" | "sdk_block", { header: Record<string, string> }>;
      const fields = [answered.block, answered.sdk_block].map((each) => [Object.keys(each), Object.keys(each.header)]);
      return [fields, answered.sdk_block.header.proposer_address?.slice(0, "svcvalcons1".length)];
    });
    const [mine, other] = await Promise.all(forms);
    expect(mine).toEqual(other);
  });

  test.each(COMMANDS)("both tools refuse: query %s", async (words) => {
    const command = ["query", ...filled(words, theirs).split(" ")];
    const [a, b] = [await chain.svc(command), await chain.run(command)];
    expect([a.code, a.stdout, b.code, b.out]).toEqual([expect.toBeOneOf([1, 2]), "", 1, ""]);
    expect(kindOf(a.stderr)).toBe(kindOf(b.err));
  });
});
