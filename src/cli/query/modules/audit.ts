import { Query } from "../../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context.ts";
import { printResult } from "../../terminal/output.ts";
import { addressArgument, ask } from "../ask.ts";
import { pageRequest } from "../page.ts";

/** `query audit get OWNER [AUDITOR]`: the attributes of a provider that all auditors, or one, have signed. */
export async function queryAudit(input: CommandInput): Promise<void> {
  const [ownerText = "", auditorText] = input.args;
  const owner = addressArgument(ownerText, "owner", input.flags);
  const context = createContext(input);
  const answer =
    auditorText === undefined
      ? await ask(context, Query.method.providerAttributes, { owner, pagination: pageRequest(input.flags) })
      : await ask(context, Query.method.providerAuditorAttributes, {
          owner,
          auditor: addressArgument(auditorText, "auditor", input.flags),
        });
  printResult(answer, context.output, input.io);
}
