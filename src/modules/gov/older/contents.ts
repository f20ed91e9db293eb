import type { DescMessage } from "@bufbuild/protobuf";
import { type Context, type MessageService, readSomeCoins } from "../../../runtime/index.ts";
import { errorText } from "../../../util/index.ts";
import { CommunityPoolSpendProposalSchema } from "../../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import { TextProposalSchema } from "../../../wire/gen/sdk/gov/v1beta1/gov_pb.js";
import { type ParamChange, ParameterChangeProposalSchema } from "../../../wire/gen/sdk/params/v1beta1/query_pb.js";
import {
  type Any,
  decodeAddress,
  govErrors as errors,
  findTypeUrl,
  formatDuration,
  fromJson,
  fromNanos,
  isAddress,
  isObject,
  type JsonObject,
  type JsonValue,
  packAny,
  unpackAs,
} from "../../../wire/index.ts";
import { type CommunityPool, GOV_ACCOUNT, GOV_ADDRESS } from "../account.ts";
import { MAX_CHANGES, MAX_OLD_DESCRIPTION, MAX_OLD_TITLE } from "../limits.ts";

/** The parameters of a module, with the message that changes them. */
export interface ParameterSet {
  /** `MsgUpdateParams` of the module. */
  readonly message: DescMessage;
  /** The present ones as JSON. */
  read(ctx: Context): JsonObject;
}

/** Contents of proposals before release 0.46 of the ecosystem: text, payment of the community, change of parameters. */
export interface LegacyContents {
  /** By the name of the module, which was its subspace. */
  parameters(module: string): ParameterSet | undefined;
}

/** Fields of every content. */
export interface Abstract {
  readonly title: string;
  readonly description: string;
}

/** Checks a content as far as no state is needed, and returns its title and description. */
export function checkContent(content: Any | undefined): Abstract {
  if (content === undefined || content.typeUrl === "") throw errors.invalidContent("missing content");
  const text = unpackAs(TextProposalSchema, content);
  const spend = unpackAs(CommunityPoolSpendProposalSchema, content);
  const change = unpackAs(ParameterChangeProposalSchema, content);
  const found = text ?? spend ?? change;
  if (found === undefined) throw errors.noHandler(nameOf(content));
  checkAbstract(found);
  if (spend !== undefined) {
    if (!isAddress(spend.recipient)) throw errors.invalidContent("the recipient is not an account address");
    readSomeCoins(spend.amount);
  }
  if (change !== undefined) checkChanges(change.changes);
  return { title: found.title, description: found.description };
}

function nameOf({ typeUrl }: Any): string {
  return findTypeUrl(typeUrl)?.name ?? typeUrl.slice(0, 100);
}

function checkAbstract({ title, description }: Abstract): void {
  const [titleBytes, bytes] = [Buffer.byteLength(title), Buffer.byteLength(description)];
  if (title.trim() === "") throw errors.invalidContent("proposal title cannot be blank");
  if (titleBytes > MAX_OLD_TITLE)
    throw errors.invalidContent(`proposal title is longer than max length of ${MAX_OLD_TITLE}`);
  if (bytes === 0) throw errors.invalidContent("proposal description cannot be blank");
  if (bytes > MAX_OLD_DESCRIPTION)
    throw errors.invalidContent(`proposal description is longer than max length of ${MAX_OLD_DESCRIPTION}`);
}

function checkChanges(changes: readonly ParamChange[]): void {
  if (changes.length === 0) throw errors.invalidContent("submitted parameter changes are empty");
  if (changes.length > MAX_CHANGES) throw errors.invalidContent(`there are more than ${MAX_CHANGES} changes`);
  for (const { subspace, key, value } of changes)
    if (subspace === "" || key === "" || value === "")
      throw errors.invalidContent("a change of a parameter names its subspace, its key and its value");
}

/** Makes the changes of contents whose proposal has passed. */
export class ContentRunner {
  readonly #pool: CommunityPool;
  readonly #messages: MessageService;
  readonly #contents: LegacyContents;

  constructor(pool: CommunityPool, messages: MessageService, contents: LegacyContents) {
    this.#pool = pool;
    this.#messages = messages;
    this.#contents = contents;
  }

  run(ctx: Context, content: Any | undefined): void {
    checkContent(content);
    const spend = unpackAs(CommunityPoolSpendProposalSchema, content);
    if (spend !== undefined) this.#pool.spendPool(ctx, decodeAddress(spend.recipient), readSomeCoins(spend.amount));
    for (const change of unpackAs(ParameterChangeProposalSchema, content)?.changes ?? []) this.#change(ctx, change);
  }

  /** Puts the value among the others of the module, which its own message then checks and stores. */
  #change(ctx: Context, { subspace, key, value }: ParamChange): void {
    const set = this.#contents.parameters(subspace);
    const schema = set?.message.fields.find(({ name }) => name === "params")?.message;
    if (set === undefined || schema === undefined)
      throw errors.invalidContent(`there is no subspace ${JSON.stringify(subspace.slice(0, 80))}`);
    const name = snakeCase(key);
    const field = schema.fields.find((each) => each.name === name);
    if (field === undefined)
      throw errors.invalidContent(`${subspace} has no parameter ${JSON.stringify(key.slice(0, 80))}`);
    const isDuration = field.message?.typeName === "google.protobuf.Duration";
    const params = { ...set.read(ctx), [name]: readValue(value, isDuration) };
    const json = { authority: "", params };
    const message = read(() => fromJson(set.message, json));
    this.#messages.execute(ctx, [packAny(set.message, { ...message, authority: GOV_ACCOUNT })], GOV_ADDRESS);
  }
}

/** `MaxValidators` and `max_validators` are the same parameter. */
function snakeCase(key: string): string {
  return key.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

/** JSON as the amino codec writes it: there, durations are numbers of nanoseconds in quotes. */
function readValue(text: string, isDuration: boolean): JsonValue {
  const value = read((): JsonValue => JSON.parse(text));
  if (isDuration && typeof value === "string" && /^\d{1,19}$/.test(value))
    return formatDuration(fromNanos(BigInt(value)));
  if (isObject(value) && Object.keys(value).length > 1000) throw errors.invalidContent("the value is too large");
  return value;
}

function read<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw errors.invalidContent(`invalid value: ${errorText(error).slice(0, 200)}`);
  }
}
