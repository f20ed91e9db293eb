import {
  type BoundService,
  bindService,
  type Context,
  checkAddress,
  failedMessage,
  type NestedMessage,
  readTime,
} from "../../runtime/index.ts";
import { equalBytes, sdkErrors } from "../../util/index.ts";
import { Msg, type MsgExec, type MsgGrant, type MsgRevoke } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { decodeAddress, authzErrors as errors, toNamespace } from "../../wire/index.ts";
import type { AuthzKeeper, GrantKey, Pair } from "./keeper.ts";
import { readAuthorization } from "./kinds/index.ts";

/** Charged beside reads and writes: a grant is stored in several places. */
const REVOKE_GAS = 5_000n;

export function authzMsgs(keeper: AuthzKeeper): BoundService {
  return bindService(
    Msg,
    {
      grant: (ctx, msg) => grant(keeper, ctx, msg),
      exec: (ctx, msg) => exec(keeper, ctx, msg),
      revoke: (ctx, msg) => revoke(keeper, ctx, msg),
    },
    {
      grant: (msg) => {
        readPair(msg);
        readGrant(msg);
      },
      exec: ({ grantee, msgs }) => {
        checkAddress("grantee", grantee);
        if (msgs.length === 0) throw sdkErrors.invalidRequest("messages cannot be empty");
        keeper.messages.read(msgs);
      },
      revoke: (msg) => {
        readPair(msg);
        if (msg.msgTypeUrl === "") throw sdkErrors.invalidRequest("missing msg method name");
      },
    },
  );
}

function grant(keeper: AuthzKeeper, ctx: Context, msg: MsgGrant): object {
  const { authorization, expiration } = readGrant(msg);
  keeper.grant(ctx, readPair(msg), authorization, expiration);
  return {};
}

function revoke(keeper: AuthzKeeper, ctx: Context, msg: MsgRevoke): object {
  ctx.gas.consume(REVOKE_GAS, "end of a grant");
  const { granter, grantee } = readPair(msg);
  keeper.revoke(ctx, keyOf(granter, grantee, msg.msgTypeUrl));
  return {};
}

/** Runs messages of others in order, each with its grant's current remainder. */
function exec(keeper: AuthzKeeper, ctx: Context, { grantee, msgs }: MsgExec) {
  const by = decodeAddress(grantee);
  const results = keeper.messages.read(msgs).map((message, index) => {
    if (!equalBytes(message.signer, by)) keeper.use(ctx, by, message);
    return runFor(keeper, ctx, message, index);
  });
  return { results };
}

/** The events tell which of the messages they belong to. */
function runFor(keeper: AuthzKeeper, ctx: Context, message: NestedMessage, index: number): Uint8Array {
  const events = ctx.events.branch({ key: "authz_msg_index", value: index.toString() });
  try {
    const { value } = keeper.messages.run(ctx.with({ events }), message);
    ctx.events.append(events.all());
    return value;
  } catch (error) {
    throw failedMessage(error, index);
  }
}

/** The key of a grant for messages of a type in either spelling. Throws `authz/2` for a text that cannot be a type. */
export function keyOf(granter: Uint8Array, grantee: Uint8Array, typeUrl: string): GrantKey {
  if (typeUrl.includes("\0")) throw errors.notFound(`authorization not found for ${JSON.stringify(typeUrl)} type`);
  return [granter, grantee, toNamespace(typeUrl, "sdk")];
}

/** Two different accounts. */
function readPair(pair: { readonly granter: string; readonly grantee: string }): Pair {
  checkAddress("granter", pair.granter);
  checkAddress("grantee", pair.grantee);
  const [granter, grantee] = [decodeAddress(pair.granter), decodeAddress(pair.grantee)];
  if (equalBytes(granter, grantee)) throw errors.granteeIsGranter();
  return { granter, grantee };
}

function readGrant({ grant: given }: MsgGrant) {
  return {
    authorization: readAuthorization(given?.authorization),
    expiration: given?.expiration === undefined ? undefined : readTime("expiration", given.expiration),
  };
}
