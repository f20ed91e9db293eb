import { create } from "@bufbuild/protobuf";
import type { TestKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import {
  MsgCreatePeriodicVestingAccountSchema,
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../../../src/wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import type { GrantSimulation } from "./grants.ts";
import type { SimAction, SimOperation, SimRandom } from "./operation.ts";

/** Accounts whose coins vest over time. */
export interface VestingSimulation extends GrantSimulation {
  /** Addresses that may get a vesting account; those that already have one are refused. */
  readonly heirs: readonly TestKey[];
}

type Build = (sim: VestingSimulation, from: TestKey) => SimAction["message"];

const SECOND = 1_000_000_000n;

const BUILDS: readonly (readonly [name: string, weight: number, build: Build])[] = [
  ["lock evenly", 2, lockEvenly],
  ["lock in periods", 1, lockInPeriods],
  [
    "lock for good",
    1,
    (sim, from) => create(MsgCreatePermanentLockedAccountSchema, { ...ends(sim, from), amount: coins(sim.random) }),
  ],
];

/** Everything that makes accounts with locked coins; some of it is refused. */
export const vestingOperations: readonly SimOperation<VestingSimulation>[] = BUILDS.map(([name, weight, build]) => ({
  name,
  weight,
  build(sim) {
    const from = sim.random.pick(sim.holders);
    return from === undefined ? undefined : { signer: from.address, message: build(sim, from) };
  },
}));

function coins(random: SimRandom) {
  return [{ denom: NATIVE_DENOM, amount: `${10_000_000n + BigInt(random.int(1_000_000_007))}` }];
}

function ends({ random, heirs }: VestingSimulation, { address }: TestKey) {
  return { fromAddress: address, toAddress: random.pick(heirs)?.address ?? "" };
}

function lockEvenly(sim: VestingSimulation, from: TestKey) {
  const { random, time } = sim;
  const endTime = time() / SECOND + BigInt(random.pick([0, 7, 100, 5_000]));
  const amount = coins(random);
  return create(MsgCreateVestingAccountSchema, { ...ends(sim, from), amount, endTime, delayed: random.int(3) === 0 });
}

function lockInPeriods(sim: VestingSimulation, from: TestKey) {
  const { random, time } = sim;
  const startTime = time() / SECOND + BigInt(random.int(100));
  const vestingPeriods = Array.from({ length: 1 + random.int(5) }, () => ({
    length: BigInt(random.pick([1, 13, 400])),
    amount: coins(random),
  }));
  return create(MsgCreatePeriodicVestingAccountSchema, { ...ends(sim, from), startTime, vestingPeriods });
}
