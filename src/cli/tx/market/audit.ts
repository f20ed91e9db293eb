import { create } from "@bufbuild/protobuf";
import { attributeFault } from "../../../sdl/index.ts";
import { MsgSignProviderAttributesSchema } from "../../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { type Attribute, AttributeSchema } from "../../../wire/gen/svc/base/v1beta1/base_pb.js";
import { Query as ProviderQuery } from "../../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { commandError, usageError } from "../../errors.ts";
import { addressArgument } from "../../query/ask.ts";
import type { TxSession } from "../session/run.ts";
import { runTx } from "../session/run.ts";

/** `tx audit attr create PROVIDER [KEY VALUE]...`: without pairs all current attributes of the provider are signed. */
export async function auditCreate(input: CommandInput): Promise<number> {
  const [provider = "", ...words] = input.args;
  const owner = addressArgument(provider, "provider", input.flags);
  const given = readPairs(words);
  return runTx(input, async (session) => {
    const attributes = given.length > 0 ? given : await currentAttributes(session, owner);
    return [packAny(MsgSignProviderAttributesSchema, { owner, auditor: session.sender.address, attributes })];
  });
}

function readPairs(words: readonly string[]): Attribute[] {
  if (words.length % 2 !== 0) {
    throw usageError(
      `<pairs>: the key "${(words.at(-1) ?? "").slice(0, 64)}" has no value`,
      "write each key before its value: region eu-west",
    );
  }
  const pairs: Attribute[] = [];
  for (let i = 0; i < words.length; i += 2)
    pairs.push(create(AttributeSchema, { key: words[i] ?? "", value: words[i + 1] ?? "" }));
  const fault = attributeFault(pairs, "offered");
  if (fault !== undefined) throw usageError(`<pairs>: ${fault}`);
  return pairs;
}

async function currentAttributes(session: TxSession, owner: string): Promise<Attribute[]> {
  const { query } = await session.chain();
  const { provider } = await query.call(ProviderQuery.method.provider, { owner });
  const attributes = provider?.attributes ?? [];
  if (attributes.length === 0) {
    throw commandError(`provider ${owner} has no attributes to sign`, { hint: "name them: each key before its value" });
  }
  return attributes;
}
