import { type Context, defineModule, type Module } from "../../runtime/index.ts";
import { queueTime } from "../../store/index.ts";
import { toHex } from "../../util/index.ts";
import type { GranteeAccounts } from "../authz/index.ts";
import type { Bank } from "../bank/index.ts";
import { checkAllowance, expirationOf } from "./allowance.ts";
import { feegrantGenesis } from "./genesis.ts";
import { type AllowanceKey, FeegrantKeeper, MAX_PRUNED, store } from "./keeper.ts";
import { feegrantMsgs } from "./msgs.ts";
import { feegrantQueries } from "./queries.ts";

/** Makes the module and its keeper. */
export function feegrantModule(
  auth: GranteeAccounts,
  bank: Pick<Bank, "isBlocked">,
): { readonly keeper: FeegrantKeeper; readonly module: Module } {
  const keeper = new FeegrantKeeper(auth, bank);
  const module = defineModule({
    name: "feegrant",
    msg: feegrantMsgs(keeper),
    query: feegrantQueries(keeper),
    genesis: feegrantGenesis(keeper),
    endBlock: (ctx) => {
      keeper.prune(ctx, MAX_PRUNED);
      return undefined;
    },
    invariants: {
      allowances: (ctx) => allowancesAreValid(keeper, ctx),
      queue: (ctx) => queueIsRight(keeper, ctx),
    },
  });
  return { keeper, module };
}

/** Every allowance can be read and is found by its grantee. */
function allowancesAreValid(keeper: FeegrantKeeper, ctx: Context): string | undefined {
  for (const { allowance } of keeper.allowances.values(store(ctx))) checkAllowance(allowance, "stored");
  return keeper.allowances.verifyIndexes(store(ctx))[0];
}

/** The queue holds each allowance that expires, once and at its time, and nothing else. */
function queueIsRight(keeper: FeegrantKeeper, ctx: Context): string | undefined {
  const name = (at: bigint, [granter, grantee]: AllowanceKey) => `${at}/${toHex(granter)}/${toHex(grantee)}`;
  const expected = new Set<string>();
  for (const [key, { allowance }] of keeper.allowances.iterate(store(ctx))) {
    const expiration = expirationOf(allowance);
    if (expiration !== undefined) expected.add(name(queueTime(expiration), key));
  }
  for (const { height, key } of keeper.expirations.iterate(store(ctx)))
    if (!expected.delete(name(height, key))) return `${name(height, key)} is in the queue without an allowance`;
  const [missing] = expected;
  return missing === undefined ? undefined : `${missing} is not in the queue`;
}
