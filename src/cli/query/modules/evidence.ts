import { fromHex, toBase64 } from "../../../util/index.ts";
import { Query } from "../../../wire/gen/sdk/evidence/v1beta1/query_pb.js";
import { isObject } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { printResult } from "../../terminal/output.ts";
import { hashArgument } from "../../values/hash.ts";
import { ask } from "../ask.ts";
import { pageRequest } from "../page.ts";

/** `query evidence [HASH]`: one piece of evidence, or all; newer tools write `list` for all. */
export async function queryEvidence(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const [text] = args;
  const pagination = pageRequest(flags);
  const hash = text === undefined || text === "list" ? undefined : hashArgument(text, "hash", "evidence");
  const context = createContext(input);
  if (hash === undefined) {
    printResult(await ask(context, Query.method.allEvidence, { pagination }), context.output, io);
    return;
  }
  // Releases before 0.47 read the bytes, later ones the text.
  const request = { evidence_hash: toBase64(fromHex(hash)), hash };
  const answer = await ask(context, Query.method.evidence, request);
  printResult(isObject(answer) ? (answer.evidence ?? null) : answer, context.output, io);
}
