import { type Context, defineModule, type MessageService, type Module } from "../../runtime/index.ts";
import { queueTime } from "../../store/index.ts";
import { toHex } from "../../util/index.ts";
import { encodeAddress, toNanos } from "../../wire/index.ts";
import type { Bank } from "../bank/index.ts";
import { authzGenesis } from "./genesis.ts";
import { AuthzKeeper, type GranteeAccounts, type GrantKey, store } from "./keeper.ts";
import { readAuthorization } from "./kinds/index.ts";
import { authzMsgs } from "./msgs.ts";
import { authzQueries } from "./queries.ts";

export type { GranteeAccounts } from "./keeper.ts";

/** The parts of the module. */
export interface AuthzParts {
  readonly auth: GranteeAccounts;
  readonly bank: Pick<Bank, "isBlocked">;
  readonly messages: MessageService;
}

/** Makes the module and its keeper. */
export function authzModule({ auth, bank, messages }: AuthzParts): {
  readonly keeper: AuthzKeeper;
  readonly module: Module;
} {
  const keeper = new AuthzKeeper(messages, auth, bank);
  const module = defineModule({
    name: "authz",
    msg: authzMsgs(keeper),
    query: authzQueries(keeper),
    genesis: authzGenesis(keeper),
    beginBlock: (ctx) => keeper.prune(ctx),
    invariants: {
      grants: (ctx) => grantsAreValid(keeper, ctx),
      queue: (ctx) => queueIsRight(keeper, ctx),
    },
  });
  return { keeper, module };
}

/** Every grant can be read, is stored under the messages that it allows, and is found by its grantee. */
function grantsAreValid(keeper: AuthzKeeper, ctx: Context): string | undefined {
  for (const [[granter, , typeUrl], { authorization }] of keeper.grants.iterate(store(ctx))) {
    const allowed = readAuthorization(authorization).typeUrl;
    if (allowed !== typeUrl) return `a grant of ${encodeAddress(granter)} for ${typeUrl} allows ${allowed}`;
  }
  return keeper.grants.verifyIndexes(store(ctx))[0];
}

/** The queue holds each grant that expires, once and at its time, and nothing else. */
function queueIsRight(keeper: AuthzKeeper, ctx: Context): string | undefined {
  const name = (at: bigint, [granter, grantee, typeUrl]: GrantKey) =>
    `${at}/${toHex(granter)}/${toHex(grantee)}/${typeUrl}`;
  const expected = new Set<string>();
  for (const [key, { expiration }] of keeper.grants.iterate(store(ctx)))
    if (expiration !== undefined) expected.add(name(queueTime(toNanos(expiration)), key));
  for (const { height, key } of keeper.expirations.iterate(store(ctx)))
    if (!expected.delete(name(height, key))) return `${name(height, key)} is in the queue without a grant`;
  const [missing] = expected;
  return missing === undefined ? undefined : `${missing} is not in the queue`;
}
