import { create } from "@bufbuild/protobuf";
import { type Context, defineGenesis, entryProblems, type GenesisPart, readTime } from "../../runtime/index.ts";
import { equalBytes } from "../../util/index.ts";
import type { GrantAuthorization } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { type GenesisState, GenesisStateSchema } from "../../wire/gen/sdk/authz/v1beta1/genesis_pb.js";
import { decodeAddress, encodeAddress, authzErrors as errors } from "../../wire/index.ts";
import { type AuthzKeeper, store } from "./keeper.ts";
import { readAuthorization } from "./kinds/index.ts";
import { keyOf } from "./msgs.ts";

export function authzGenesis(keeper: AuthzKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    validate: ({ authorization }) => entryProblems("authorization", authorization, identify),
    init: (ctx, state) => importState(keeper, ctx, state),
    export: (ctx) => exportState(keeper, ctx),
  });
}

/** Grants that have expired are imported too: the first blocks remove them. */
function importState(keeper: AuthzKeeper, ctx: Context, state: GenesisState): void {
  for (const entry of state.authorization) {
    const { key, authorization, expiration } = readEntry(entry);
    keeper.put(ctx, key, authorization, expiration);
  }
}

function exportState(keeper: AuthzKeeper, ctx: Context): GenesisState {
  const grants = [...keeper.grants.iterate(store(ctx))].map(([[granter, grantee], grant]) => {
    const { authorization, expiration } = grant;
    const parties = { granter: encodeAddress(granter), grantee: encodeAddress(grantee) };
    return {
      ...parties,
      ...(authorization === undefined ? {} : { authorization }),
      ...(expiration === undefined ? {} : { expiration }),
    };
  });
  return create(GenesisStateSchema, { authorization: grants });
}

function identify(entry: GrantAuthorization): string {
  const { key } = readEntry(entry);
  if (equalBytes(key[0], key[1])) throw errors.granteeIsGranter();
  return `${encodeAddress(key[0])}/${encodeAddress(key[1])}/${key[2]}`;
}

function readEntry({ granter, grantee, ...entry }: GrantAuthorization) {
  const authorization = readAuthorization(entry.authorization);
  const expiration = entry.expiration === undefined ? undefined : readTime("expiration", entry.expiration);
  if (expiration !== undefined && expiration < 0n) throw errors.invalidExpiration("before 1970");
  return {
    key: keyOf(decodeAddress(granter), decodeAddress(grantee), authorization.typeUrl),
    authorization,
    expiration,
  };
}
