import { Query } from "../../wire/gen/sdk/authz/v1beta1/query_pb.js";
import { createContext } from "../context.ts";
import { printResult } from "../output.ts";
import { pageRequest } from "../page.ts";
import type { CommandInput } from "../spec.ts";
import { typeUrlArgument } from "../type-url.ts";
import { addressArgument, ask } from "./ask.ts";

/** `query authz grants GRANTER GRANTEE [TYPE]`: all grants between two accounts, or that for a type of messages. */
export async function queryGrants(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const [granterText = "", granteeText = "", type] = args;
  const request = {
    granter: addressArgument(granterText, "granter", flags),
    grantee: addressArgument(granteeText, "grantee", flags),
    msg_type_url: type === undefined ? "" : typeUrlArgument(type, "<msg-type-url>", flags.profile.namespace),
    pagination: pageRequest(flags),
  };
  const context = createContext(input);
  printResult(await ask(context, Query.method.grants, request), context.output, io);
}
