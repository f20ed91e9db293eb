import { expect, test } from "vitest";
import { emptyContext } from "../../../test/support/chain/index.ts";
import { brokenInvariants, type Context } from "../../runtime/index.ts";
import { testKey } from "../../testing/index.ts";
import { type AuthKeeper, authModule } from "./index.ts";

const [ALICE, BOB] = [testKey("alice"), testKey("bob")];
const COINS = [{ denom: "utoken", amount: 9n }];
const SCHEDULE = { kind: "delayed", original: COINS, start: 0n, end: 100n, periods: [] } as const;
const NOTHING = { free: [], vesting: [] };

function account(key: typeof ALICE) {
  return { address: key.bytes, sequence: 0n, publicKey: undefined };
}

/** The invariants' message about a state with a plain and a vesting account after a change behind the keeper's back. */
function saidAfter(change: (keeper: AuthKeeper, ctx: Context) => void): string[] {
  const { keeper, module } = authModule();
  keeper.modules.register([{ name: "fee_collector", permissions: [] }]);
  const ctx = emptyContext("auth");
  keeper.add(ctx, account(ALICE));
  keeper.addVesting(ctx, account(BOB), { schedule: SCHEDULE, delegated: NOTHING });
  for (const { address, name, permissions } of keeper.modules.all())
    keeper.add(ctx, { address, sequence: 0n, publicKey: undefined, module: { name, permissions } });
  expect(brokenInvariants([module], ctx)).toEqual([]);
  change(keeper, ctx);
  return brokenInvariants([module], ctx);
}

test.each<[string, (keeper: AuthKeeper, ctx: Context) => void, string]>([
  [
    "a number above the next one",
    (keeper, ctx) => keeper.set(ctx, { ...account(ALICE), number: 3n }),
    "auth/accounts: account number 3 was never assigned",
  ],
  [
    "a number twice",
    (keeper, ctx) => keeper.set(ctx, { ...account(ALICE), number: 1n }),
    "auth/accounts: two accounts have the same number",
  ],
  [
    "an account that is gone",
    (keeper, ctx) => keeper.accounts.delete(ctx.store("auth"), ALICE.bytes),
    "auth/accounts: 3 numbers were assigned to 2 accounts",
  ],
  [
    "a module without its account",
    (keeper, ctx) => {
      const [module] = keeper.modules.all();
      if (module !== undefined) keeper.set(ctx, { ...account(ALICE), address: module.address, number: 2n });
    },
    "auth/modules: module fee_collector has no account of its own",
  ],
  [
    "a vesting account without a schedule",
    (keeper, ctx) => keeper.vesting.schedules.delete(ctx.store("auth"), BOB.bytes),
    `auth/accounts: ${BOB.address} has no vesting schedule`,
  ],
  [
    "a schedule of a plain account",
    ({ vesting: { schedules } }, ctx) =>
      schedules.set(ctx.store("auth"), ALICE.bytes, schedules.require(ctx.store("auth"), BOB.bytes)),
    `auth/vesting: ${ALICE.address} has a vesting schedule and is not a vesting account`,
  ],
  [
    "more delegated than was locked",
    (keeper, ctx) =>
      keeper.vesting.delegated.set(ctx.store("auth"), BOB.bytes, {
        free: [],
        vesting: [{ denom: "utoken", amount: 10n }],
      }),
    `auth/vesting: ${BOB.address}: delegated_vesting of utoken is more than original_vesting`,
  ],
  [
    "delegated coins of a plain account",
    (keeper, ctx) => keeper.vesting.delegated.set(ctx.store("auth"), ALICE.bytes, { free: COINS, vesting: [] }),
    `auth/vesting: ${ALICE.address} has delegated coins and no vesting schedule`,
  ],
])("the invariants notice %s", (_, change, sentence) => {
  expect(saidAfter(change)).toEqual([sentence]);
});
