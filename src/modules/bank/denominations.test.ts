import { expect, test, vi } from "vitest";
import { emptyContext } from "../../../test/support/chain/index.ts";
import { testKey } from "../../testing/index.ts";
import { authModule } from "../auth/index.ts";
import { BankKeeper } from "./index.ts";

const DENOMS = Array.from({ length: 1_000 }, (_, i) => `d${`${i}`.padStart(9, "0")}`);
const ADDRESS = testKey("rich").bytes;
const coins = DENOMS.map((denom) => ({ denom, amount: 2n }));

/** Objects named by denomination, and the number of reads of their names. */
function counted<T extends object>(rest: T): { readonly all: ({ denom: string } & T)[]; looks: number } {
  const found = {
    all: DENOMS.map((denom) => ({
      ...rest,
      get denom() {
        found.looks += 1;
        return denom;
      },
    })),
    looks: 0,
  };
  found.looks = 0;
  return found;
}

test("what is locked of many denominations is looked at once each", () => {
  const [ctx, locked] = [emptyContext("bank"), counted({ amount: 1n })];
  const keeper = new BankKeeper(Object.assign(Object.create(authModule().keeper), { locked: () => locked.all }));
  for (const coin of coins) keeper.setBalance(ctx, ADDRESS, coin);
  expect(keeper.spendableOf(ctx, ADDRESS, coins)).toEqual(DENOMS.map((denom) => ({ denom, amount: 1n })));
  expect(locked.looks).toBe(DENOMS.length);
  keeper.checkFunds(
    ctx,
    ADDRESS,
    DENOMS.map((denom) => ({ denom, amount: 1n })),
    new Map(),
  );
  expect(locked.looks).toBe(2 * DENOMS.length);
  keeper.subtract(
    ctx,
    ADDRESS,
    DENOMS.map((denom) => ({ denom, amount: 1n })),
  );
  expect(locked.looks).toBe(3 * DENOMS.length);
});

test("denominations whose transfers are switched are looked at once each", () => {
  const [ctx, switched] = [emptyContext("bank"), counted({ enabled: true })];
  const keeper = new BankKeeper(authModule().keeper);
  const params = { $typeName: "sdk.bank.v1beta1.Params" as const, defaultSendEnabled: false };
  vi.spyOn(keeper, "getParams").mockReturnValue({ ...params, sendEnabled: switched.all } as never);
  keeper.checkSendEnabled(ctx, coins);
  expect(switched.looks).toBe(DENOMS.length);
  expect(() => keeper.checkSendEnabled(ctx, [{ denom: "other", amount: 1n }])).toThrow(
    "other transfers are currently disabled",
  );
});
