import { MsgExecSchema, MsgGrantSchema } from "../../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { makeAny, packAny, toNamespace } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { addressArgument } from "../../query/ask.ts";
import { readExpiration } from "../../values/expiration.ts";
import { readTxFile } from "../files/file.ts";
import { checkShown } from "../files/signing.ts";
import { runTx } from "../session/run.ts";
import { readAuthorization } from "./authorization.ts";

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
