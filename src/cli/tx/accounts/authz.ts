import { create } from "@bufbuild/protobuf";
import { GenericAuthorizationSchema } from "../../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema } from "../../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../../../wire/gen/sdk/bank/v1beta1/authz_pb.js";
import {
  AuthorizationType,
  StakeAuthorization_ValidatorsSchema,
  StakeAuthorizationSchema,
} from "../../../wire/gen/sdk/staking/v1beta1/authz_pb.js";
import { DepositDeploymentAuthorizationSchema } from "../../../wire/gen/svc/deployment/v1beta1/authz_pb.js";
import { type Any, decodeAddress, makeAny, packAny, toNamespace } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import { inFlag } from "../../command/in-flag.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { addressArgument } from "../../query/ask.ts";
import { coinsFlag, type MessageCoin } from "../../values/coins.ts";
import { readExpiration } from "../../values/expiration.ts";
import { typeUrlArgument } from "../../values/type-url.ts";
import { readTxFile } from "../files/file.ts";
import { checkShown } from "../files/signing.ts";
import { runTx } from "../session/run.ts";

/** `tx authz grant GRANTEE KIND`. */
export async function authzGrant(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const [granteeText = "", kind = ""] = args;
  const grantee = addressArgument(granteeText, "grantee", flags);
  const authorization = readAuthorization(kind, flags);
  const expiration = readExpiration(flags, Date.now());
  const grant = { authorization, ...(expiration === undefined ? {} : { expiration }) };
  return runTx(input, ({ sender }) => {
    if (sender.address === grantee) {
      throw usageError(`<grantee>: ${grantee} is the granter itself`, "name another account, which may act for it");
    }
    return [packAny(MsgGrantSchema, { granter: sender.address, grantee, grant })];
  });
}

/** `tx authz exec FILE`: the messages of a transaction, sent by the grantee. */
export async function authzExec(input: CommandInput): Promise<number> {
  const { args, flags, io } = input;
  const { body } = await readTxFile(args[0] ?? "", io);
  checkShown(body?.messages ?? [], flags);
  const { namespace } = flags.profile;
  const msgs = (body?.messages ?? []).map(({ typeUrl, value }) => makeAny(toNamespace(typeUrl, namespace), value));
  return runTx(input, ({ sender }) => [packAny(MsgExecSchema, { grantee: sender.address, msgs })]);
}

/** The flags that each kind of authorization takes. */
const KINDS: ReadonlyMap<string, { readonly flags: readonly string[]; readonly read: (flags: Flags) => Any }> = new Map(
  [
    ["send", { flags: ["spend-limit", "allow-list"], read: sendAuthorization }],
    ["deposit", { flags: ["spend-limit"], read: depositAuthorization }],
    ["generic", { flags: ["msg-type"], read: genericAuthorization }],
    ...stakeKinds(),
  ],
);

function stakeKinds() {
  const flags = ["spend-limit", "allowed-validators", "deny-validators"];
  const types = [
    ["delegate", AuthorizationType.DELEGATE],
    ["unbond", AuthorizationType.UNDELEGATE],
    ["redelegate", AuthorizationType.REDELEGATE],
  ] as const;
  return types.map(([name, type]) => {
    const read = (given: Flags): Any => stakeAuthorization(given, type);
    return [name, { flags, read }] as const;
  });
}

/** The authorization of `tx authz grant`: send, deposit, generic, delegate, unbond or redelegate. */
export function readAuthorization(kind: string, flags: Flags): Any {
  const found = KINDS.get(kind);
  if (found === undefined) {
    throw usageError(`<authorization> is ${[...KINDS.keys()].join(", ")}, not "${kind.slice(0, 64)}"`);
  }
  const all = new Set([...KINDS.values()].flatMap((each) => each.flags));
  const stray = [...all].find((name) => flags.typed(name) && !found.flags.includes(name));
  if (stray !== undefined) throw usageError(`--${stray} does not apply to an authorization of kind ${kind}`);
  return found.read(flags);
}

function sendAuthorization(flags: Flags): Any {
  const spendLimit = coinsFlag(flags, "spend-limit");
  if (spendLimit === undefined) throw usageError("required flag --spend-limit is not set (or SVC_SPEND_LIMIT)");
  const allowList = addresses(flags, "allow-list", "account");
  return packAny(SendAuthorizationSchema, { spendLimit, allowList }, flags.profile.namespace);
}

/** Deposits into deployments of the grantee. */
function depositAuthorization(flags: Flags): Any {
  const spendLimit = oneCoin(coinsFlag(flags, "spend-limit"), "deposits");
  if (spendLimit === undefined) throw usageError("required flag --spend-limit is not set (or SVC_SPEND_LIMIT)");
  return packAny(DepositDeploymentAuthorizationSchema, { spendLimit }, flags.profile.namespace);
}

function genericAuthorization(flags: Flags): Any {
  const { namespace } = flags.profile;
  const msg = typeUrlArgument(flags.need("msg-type"), flags.label("msg-type"), namespace);
  return packAny(GenericAuthorizationSchema, { msg }, namespace);
}

function stakeAuthorization(flags: Flags, authorizationType: AuthorizationType): Any {
  const allowed = addresses(flags, "allowed-validators", "valoper");
  const denied = addresses(flags, "deny-validators", "valoper");
  if ((allowed.length === 0) === (denied.length === 0)) {
    throw usageError("give either --allowed-validators or --deny-validators", "validators, separated by commas");
  }
  const list = create(StakeAuthorization_ValidatorsSchema, { address: allowed.length > 0 ? allowed : denied });
  const validators = { case: allowed.length > 0 ? "allowList" : "denyList", value: list } as const;
  const maxTokens = oneCoin(coinsFlag(flags, "spend-limit"), "delegations");
  const message = { authorizationType, validators, ...(maxTokens === undefined ? {} : { maxTokens }) };
  return packAny(StakeAuthorizationSchema, message, flags.profile.namespace);
}

function oneCoin(coins: readonly MessageCoin[] | undefined, what: string): MessageCoin | undefined {
  if (coins !== undefined && coins.length > 1) {
    throw usageError(`--spend-limit: ${what} are of one denomination`, "give one amount");
  }
  return coins?.[0];
}

/** Addresses separated by commas, each once. */
function addresses(flags: Flags, name: string, kind: "account" | "valoper"): string[] {
  const texts = [...flags.words(name)];
  for (const text of texts) inFlag(flags, name, () => decodeAddress(text, kind, flags.profile.bech32Prefix));
  const twice = texts.find((text, i) => texts.indexOf(text) < i);
  if (twice !== undefined) throw usageError(`${flags.label(name)}: ${twice} is given twice`);
  return texts;
}
