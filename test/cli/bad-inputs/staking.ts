import { decodeAddress, encodeAddress } from "../../../src/wire/index.ts";
import type { Row, TestHome } from "./home.ts";

const FROM = ["--from", "a"];
const MULTISIG = `{"type":"tendermint/PubKeyMultisigThreshold","value":{"threshold":"1","pubkeys":[{"type":"tendermint/PubKeySecp256k1","value":"AxLZ24vr+sh4EwC/7P3mUCjdfn/ohvrFNsfRUTuz0pNm"}]}}`;
const KEY = '{"@type":"/cosmos.crypto.ed25519.PubKey","key":"HFW8PGL58arqTdSp0nhi5YLI9/nZ3i4/lkMreOg5idE="}';

/** Delegations, validators and rewards. */
export function stakingRows(testHome: TestHome): readonly Row[] {
  return [
    ...delegationRows(testHome),
    ...validatorRows(testHome),
    ...rewardRows(testHome),
    ...stakingQueryRows(testHome),
  ];
}

const operatorOf = (address: string): string => encodeAddress(decodeAddress(address), "valoper");

function delegationRows({ A, B, wrongSum }: TestHome): readonly Row[] {
  const [V, W] = [operatorOf(A), operatorOf(B)];
  const delegate = (...words: readonly string[]): string[] => ["tx", "staking", "delegate", ...words, ...FROM];
  const redelegate = (...words: readonly string[]): string[] => ["tx", "staking", "redelegate", ...words, ...FROM];
  const unbond = (...words: readonly string[]): string[] => ["tx", "staking", "unbond", ...words, ...FROM];
  const cancel = (...words: readonly string[]): string[] => ["tx", "staking", "cancel-unbond", ...words, ...FROM];
  return [
    [delegate(), 2, "missing required argument 'validator-addr'"],
    [delegate(V), 2, "missing required argument 'amount'"],
    [delegate(A, "1utoken"), 2, `<validator-addr>: invalid Bech32 prefix in "${A}"; expected svcvaloper`],
    [delegate(wrongSum, "1utoken"), 2, "<validator-addr>"],
    [delegate(`${V}x`, "1utoken"), 2, "<validator-addr>"],
    [delegate("", "1utoken"), 2, "<validator-addr>"],
    [delegate(V, "1"), 2, "<amount>: invalid coin"],
    [delegate(V, "0utoken"), 2, '<amount>: "0utoken" is not an amount above zero'],
    [delegate(V, "1utoken,2stake"), 2, "<amount>: invalid coin"],
    [delegate(V, "1.5utoken"), 2, "<amount>: invalid coin"],
    [delegate(V, "1utoken", "2utoken"), 2, "too many arguments"],
    [["tx", "staking", "delegate", V, "1utoken"], 2, "required flag --from is not set"],
    [delegate(V, "1utoken", "--profile", "cosmos"), 2, "expected cosmosvaloper"],
    [delegate(V, "1utoken"), 1, "cannot reach the node"],
    [redelegate(V, W), 2, "missing required argument 'amount'"],
    [redelegate(V, A, "1utoken"), 2, "<dst-validator-addr>"],
    [redelegate(A, V, "1utoken"), 2, "<src-validator-addr>"],
    [redelegate(V, V, "1utoken"), 2, "both validators are the same"],
    [redelegate(V, W, "x"), 2, "<amount>: invalid coin"],
    [unbond(V, "-1utoken"), 2, "unknown option"],
    [unbond(V, "all"), 2, "<amount>: invalid coin"],
    [cancel(V, "1utoken"), 2, "missing required argument 'creation-height'"],
    [cancel(V, "1utoken", "0"), 2, '<creation-height>: "0" is not a whole number from 1'],
    [cancel(V, "1utoken", "x"), 2, "<creation-height>"],
    [cancel(V, "1utoken", "9223372036854775808"), 2, "<creation-height>"],
  ];
}

function validatorRows({ A, none, file }: TestHome): readonly Row[] {
  const create = (...words: readonly string[]): string[] => ["tx", "staking", "create-validator", ...words, ...FROM];
  const edit = (...words: readonly string[]): string[] => ["tx", "staking", "edit-validator", ...words, ...FROM];
  const complete = ["--amount", "10utoken", "--moniker", "m", "--pubkey", KEY];
  const from = (name: string, json: unknown) => create(file(name, JSON.stringify(json)));
  const fields = { amount: "10utoken", moniker: "m", pubkey: JSON.parse(KEY) };
  return [
    [create(), 2, "required flag --amount is not set"],
    [create("--amount", "1utoken"), 2, "required flag --pubkey is not set"],
    [create("--amount", "1utoken", "--pubkey", KEY), 2, "required flag --moniker is not set"],
    [create(...complete, "--amount", "0utoken"), 2, "--amount"],
    [create(...complete, "--pubkey", "x"), 2, "--pubkey"],
    [create(...complete, "--pubkey", "{}"), 2, "--pubkey"],
    [create(...complete, "--pubkey", A), 2, "--pubkey"],
    [create(...complete, "--pubkey", MULTISIG), 2, "--pubkey: a multisig cannot sign blocks"],
    [create(...complete, "--commission-rate", "much"), 2, "--commission-rate"],
    [create(...complete, "--commission-rate", "10"), 2, "--commission-rate: 10 is not between 0 and 1"],
    [create(...complete, "--commission-rate", "-0.1"), 2, "--commission-rate"],
    [create(...complete, "--commission-rate", "0.3"), 2, "--commission-rate: 0.3 is more than"],
    [create(...complete, "--commission-max-change-rate", "0.3"), 2, "--commission-max-change-rate: 0.3 is more than"],
    [
      create(...complete, "--min-self-delegation", "0"),
      2,
      '--min-self-delegation: "0" is not a whole number above zero',
    ],
    [create(...complete, "--min-self-delegation", "11"), 2, "10 is less than the minimum self-delegation, 11"],
    [create(none), 1, "cannot read the validator file"],
    [create(file("validator-none.json", "")), 1, "validator-none.json is not JSON"],
    [create(file("validator-list.json", "[]")), 1, "validator-list.json does not hold an object"],
    [from("validator-number.json", { ...fields, amount: 10 }), 1, '"amount" is not text'],
    [from("validator-unknown.json", { ...fields, monicker: "m" }), 1, 'unknown key "monicker"'],
    [
      from("validator-few.json", { amount: "10utoken", pubkey: JSON.parse(KEY) }),
      2,
      "required flag --moniker is not set",
    ],
    [
      from("validator-rate.json", { ...fields, "commission-rate": "2" }),
      2,
      "validator-rate.json: commission-rate: 2 is not between",
    ],
    [from("validator-key.json", { ...fields, pubkey: { "@type": "/x", key: "" } }), 2, "validator-key.json: pubkey"],
    [edit(), 2, "nothing to change"],
    [edit("--commission-rate", "x"), 2, "--commission-rate"],
    [edit("--min-self-delegation", "-5"), 2, "--min-self-delegation"],
    [["tx", "staking", "edit-validator", "--moniker", "m"], 2, "required flag --from is not set"],
  ];
}

function rewardRows({ A, B }: TestHome): readonly Row[] {
  const tx = (...words: readonly string[]): string[] => ["tx", "distribution", ...words, ...FROM];
  const other = `${operatorOf(B)}`;
  return [
    [tx("withdraw-rewards"), 2, "missing required argument 'validator-addr'"],
    [tx("withdraw-rewards", A), 2, "<validator-addr>"],
    [tx("withdraw-rewards", other, "--commission"), 2, `${B} operates the validator and must sign, not ${A}`],
    [tx("withdraw-rewards", other, "--commission=x"), 2, "--commission takes true or false"],
    [tx("withdraw-all-rewards", "--max-msgs", "x"), 2, "--max-msgs takes a whole number"],
    [tx("withdraw-all-rewards", "--max-msgs", "1e30"), 2, "--max-msgs takes a whole number"],
    [
      tx("withdraw-all-rewards", "--offline", "-a", "1", "-s", "1", "--chain-id", "x-1"),
      1,
      "this command needs a node",
    ],
    [tx("set-withdraw-addr", operatorOf(A)), 2, "<withdraw-addr>"],
    [tx("set-withdraw-addr", ""), 2, "<withdraw-addr>"],
    [tx("fund-community-pool", "0utoken"), 2, "<amount>"],
    [tx("fund-community-pool", "x"), 2, "<amount>: invalid coin"],
    [tx("fund-validator-rewards-pool", "svc1abc", "5stake"), 2, "<validator-addr>"],
    [tx("fund-validator-rewards-pool", operatorOf(A), "0utoken"), 2, "<amount>"],
  ];
}

function stakingQueryRows({ A }: TestHome): readonly Row[] {
  const V = operatorOf(A);
  const staking = (...words: readonly string[]): string[] => ["query", "staking", ...words];
  const distribution = (...words: readonly string[]): string[] => ["query", "distribution", ...words];
  return [
    [staking("validators", "--status", "asleep"), 2, "--status takes unbonded, unbonding, bonded"],
    [staking("validators", "--limit", "1001"), 2, "at most 1000 rows"],
    [staking("validators", "--height", "x"), 2, "--height takes a whole number"],
    [staking("validators"), 1, "cannot reach the node"],
    [staking("validator"), 2, "missing required argument"],
    [staking("validator", A), 2, "<validator-addr>"],
    [staking("delegation", A), 2, "missing required argument 'validator-addr'"],
    [staking("delegation", V, A), 2, "<delegator-addr>"],
    [staking("delegations", V), 2, "<delegator-addr>"],
    [staking("delegations-to", A), 2, "<validator-addr>"],
    [staking("unbonding-delegation", A, A), 2, "<validator-addr>"],
    [staking("unbonding-delegations", "x"), 2, "<delegator-addr>"],
    [staking("unbonding-delegations-from", "x"), 2, "<validator-addr>"],
    [staking("redelegation", A, V), 2, "missing required argument 'dst-validator-addr'"],
    [staking("redelegation", A, V, A), 2, "<dst-validator-addr>"],
    [staking("redelegations", V), 2, "<delegator-addr>"],
    [staking("redelegations-from", A), 2, "<src-validator-addr>"],
    [staking("historical-info", "x"), 2, "<height>"],
    [staking("historical-info", "-1"), 2, "<height>"],
    [distribution("rewards"), 2, "missing required argument 'delegator-addr'"],
    [distribution("rewards", V), 2, "<delegator-addr>"],
    [distribution("rewards", A, A), 2, "<validator-addr>"],
    [distribution("commission", A), 2, "<validator-address>"],
    [distribution("slashes", V, "0"), 2, "missing required argument 'ending-height'"],
    [distribution("slashes", V, "x", "1"), 2, "<starting-height>"],
    [distribution("slashes", V, "0", "18446744073709551616"), 2, "<ending-height>"],
    [distribution("validator-outstanding-rewards", "x"), 2, "<validator-address>"],
    [distribution("delegator-withdraw-address", V), 2, "<delegator-address>"],
  ];
}
