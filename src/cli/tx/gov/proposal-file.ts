import type { MessageInitShape } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import * as v from "valibot";
import { errorText, parseCoins, SvcError } from "../../../util/index.ts";
import type { MsgSubmitProposalSchema } from "../../../wire/gen/sdk/gov/v1/tx_pb.js";
import {
  fromJson,
  isArray,
  isObject,
  type JsonValue,
  type Namespace,
  readJson,
  toNamespace,
} from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import { commandError } from "../../errors.ts";
import { readTextFile } from "../../terminal/files.ts";
import type { MessageCoin } from "../../values/coins.ts";

const MAX_BYTES = 1 << 20;
const HINT = 'write {"messages": [...], "deposit": "10000000utoken", "title": "...", "summary": "..."}';
const OLDER_HINT = 'write {"title": "...", "description": "...", "type": "Text", "deposit": "10000000utoken"}';

const text = v.optional(v.string(), "");
const filled = v.pipe(v.string(), v.trim(), v.minLength(1));
const PROPOSAL = v.strictObject({
  messages: v.optional(v.array(v.any()), []),
  metadata: text,
  deposit: text,
  title: filled,
  summary: filled,
  expedited: v.optional(v.boolean(), false),
});
const OLDER = v.strictObject({
  title: filled,
  description: filled,
  type: v.optional(v.string(), "Text"),
  deposit: text,
});

/** A proposal of `tx gov submit-proposal`: messages, deposit, title, summary, metadata. */
export function readProposalFile(path: string, { profile }: Flags): MessageInitShape<typeof MsgSubmitProposalSchema> {
  return readFile(path, HINT, (json) => {
    const { messages, deposit, ...rest } = shaped(PROPOSAL, json);
    if (messages.length === 0 && rest.metadata === "") throw new Error("it needs messages or metadata");
    const spelled = messages.map((message: JsonValue) =>
      fromJson(AnySchema, spell(message, profile.namespace), { opaque: true }),
    );
    return { ...rest, messages: spelled, initialDeposit: readDeposit(deposit) };
  });
}

export interface OlderProposal {
  readonly title: string;
  readonly description: string;
  readonly type: string;
  readonly deposit: MessageCoin[];
}

/** A proposal of releases before 0.46: title, description, type, deposit. */
export function readOlderProposalFile(path: string): OlderProposal {
  return readFile(path, OLDER_HINT, (json) => {
    const { deposit, ...rest } = shaped(OLDER, json);
    return { ...rest, deposit: readDeposit(deposit) };
  });
}

function readFile<T>(path: string, hint: string, read: (json: JsonValue) => T): T {
  const content = readTextFile(path, { what: "proposal file", maxBytes: MAX_BYTES, hint });
  try {
    return read(readJson(content));
  } catch (error) {
    const cause = error instanceof SvcError ? { cause: error } : {};
    throw commandError(`proposal file ${path}: ${errorText(error)}`, { hint, ...cause });
  }
}

function shaped<T extends v.GenericSchema>(schema: T, json: JsonValue): v.InferOutput<T> {
  const result = v.safeParse(schema, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? "the file";
  throw new Error(`${where}: ${issue.message}`);
}

function readDeposit(coins: string): MessageCoin[] {
  const read = parseCoins(coins).filter(({ amount }) => amount > 0n);
  return read.map(({ denom, amount }) => ({ denom, amount: amount.toString() }));
}

/** The same JSON with all its type names in the spelling of the network. */
function spell(json: JsonValue, namespace: Namespace): JsonValue {
  if (isArray(json)) return json.map((item) => spell(item, namespace));
  if (!isObject(json)) return json;
  const entries = Object.entries(json).map(([key, value]): [string, JsonValue] => {
    return [
      key,
      key === "@type" && typeof value === "string" ? toNamespace(value, namespace) : spell(value, namespace),
    ];
  });
  return Object.fromEntries(entries);
}
