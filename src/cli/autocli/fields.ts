import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { CliText, cliField, findEnum, findMessage, Scalar, scalarOf } from "../../wire/index.ts";
import type { FlagSpec } from "../command/flag-spec.ts";

/** A value of a message that a flag of the same name sets. */
export interface FieldFlag {
  readonly flag: FlagSpec;
  /** Names of the fields that lead to the value, from the message down. */
  readonly path: readonly string[];
  readonly field: DescField;
}

const COIN = "sdk.base.v1beta1.Coin";
const DEC_COIN = "sdk.base.v1beta1.DecCoin";
const PAGE_REQUEST = "sdk.base.query.v1beta1.PageRequest";

/** Messages that identify something by an owner and numbers, with the word that begins their text form. */
export const ID_KINDS: ReadonlyMap<string, string> = new Map([
  ["svc.deployment.v1beta1.DeploymentID", "deployment"],
  ["svc.deployment.v1beta1.GroupID", "group"],
  ["svc.market.v1beta1.OrderID", "order"],
  ["svc.market.v1beta1.BidID", "bid"],
  ["svc.market.v1beta1.LeaseID", "lease"],
  ["svc.cert.v1beta1.CertificateID", "certificate"],
]);

/** Help texts of flags; a name means the same everywhere. */
const SUMMARIES: Readonly<Record<string, string>> = {
  owner: "account that owns it",
  dseq: "number of the deployment",
  gseq: "number of the group in the deployment",
  oseq: "number of the order of the group",
  provider: "account of the provider",
  auditor: "account of the auditor",
  state: "state it is in",
  serial: "serial number of the certificate",
  scope: "what the account is for: deployment or bid",
  xid: "id in its scope, or the beginning of it up to a slash",
  id: "id of the payment",
  price: "price per block for the whole group, for example 0.5utoken",
  deposit: "deposit, for example 5000000utoken (default: the chain's minimum)",
  reason: "why the provider closes it (default: unspecified)",
  reopen: "open a new order for the group at once",
  ids: "leases (default: all active ones)",
  denom: "denomination",
};

export function isCoin(schema: DescMessage | undefined): boolean {
  return schema?.typeName === COIN || schema?.typeName === DEC_COIN;
}

/** The name of a field on the command line. */
export function wordOf(field: DescField): string {
  return cliField(field).name || field.name.replaceAll("_", "-");
}

/** The enum whose values a field takes by short names. */
export function shortEnum(field: DescField): DescEnum | undefined {
  const { enum: name } = cliField(field);
  const found = name === "" ? undefined : findEnum(name);
  assert(name === "" || found !== undefined, `${field.parent.typeName}.${field.name}: there is no enum ${name}`);
  return found;
}

/** `voting-period` of `PROPOSAL_STATUS_VOTING_PERIOD`: the prefix of all values is left out. */
export function shortNames({ values }: DescEnum): string[] {
  const [unset] = values;
  const start = (unset?.name ?? "").replace(/UNSPECIFIED$/, "").length;
  return values.slice(1).map(({ name }) => name.slice(start).toLowerCase().replaceAll("_", "-"));
}

export function isPageRequest(field: DescField): boolean {
  return field.message?.typeName === PAGE_REQUEST;
}

/** The field that names one thing by its id, if the message has one. */
export function idField(schema: DescMessage): DescField | undefined {
  return schema.fields.find(
    (field) => field.fieldKind === "message" && field.message !== undefined && ID_KINDS.has(field.message.typeName),
  );
}

/**
 * The flags of a message: one for each value, in the order of the proto file. Filters and ids are split into their
 * fields. `except` lists paths that are set in another way.
 */
export function fieldFlags(schema: DescMessage, except: readonly string[] = []): FieldFlag[] {
  const set = schema.fields.filter((field) => !isPageRequest(field) && !except.includes(field.name));
  const found = set.flatMap((field) => flagsOf(field));
  const flags = found.filter(({ path }) => !except.includes(path.join(".")));
  const names = flags.map(({ flag }) => flag.name);
  assert(new Set(names).size === names.length, `${schema.typeName}: two flags have the same name: ${names.join(", ")}`);
  return flags;
}

function flagsOf(field: DescField): FieldFlag[] {
  const inner = field.fieldKind === "message" ? field.message : undefined;
  if (inner === undefined || isCoin(inner)) return [fieldFlag(field, [field.name])];
  return inner.fields.map((each) => fieldFlag(each, [field.name, each.name]));
}

function fieldFlag(field: DescField, path: readonly string[]): FieldFlag {
  const value = placeholder(field);
  const choices = choicesOf(field);
  const { short, alias } = cliField(field);
  const flag: FlagSpec = {
    name: wordOf(field),
    summary: short || (SUMMARIES[field.name] ?? field.name.replaceAll("_", " ")),
    ...(alias === "" ? {} : { alias }),
    ...(value === undefined ? {} : { value }),
    ...(field.fieldKind === "list" ? { repeat: true } : {}),
    ...(choices === undefined ? {} : { choices }),
    ...(shortEnum(field) === undefined ? {} : { anySpelling: true }),
  };
  return { flag, path, field };
}

/** Enum fields whose values the chain restricts for the signer, with the lowest and highest number. */
const ACCEPTED: ReadonlyMap<string, readonly [from: number, to: number]> = new Map([
  ["svc.market.v1beta1.MsgCloseBid.reason", [10_000, 19_999]],
]);

/** The first value of an enum means unspecified. */
function choicesOf(field: DescField): string[] | undefined {
  const short = shortEnum(field);
  if (short !== undefined) return shortNames(short);
  const values = (field.enum ?? filteredEnum(field))?.values;
  const [from, to] = ACCEPTED.get(`${field.parent.typeName}.${field.name}`) ?? [1, Number.POSITIVE_INFINITY];
  return values?.filter(({ number }) => number >= from && number <= to).map(({ name }) => name);
}

/** Filters hold states as texts: the states of the filtered records, `Order` for `OrderFilters`. */
function filteredEnum({ name, parent }: DescField): DescEnum | undefined {
  const entity = /^(.*)(?:Filters?)$/.exec(parent.typeName)?.[1];
  const field = entity === undefined ? undefined : findMessage(entity)?.fields.find((each) => each.name === name);
  return name === "state" ? field?.enum : undefined;
}

function placeholder(field: DescField): string | undefined {
  const schema = field.message;
  if (schema !== undefined) {
    const kind = ID_KINDS.get(schema.typeName);
    assert(kind !== undefined || isCoin(schema), `${field.parent.typeName}.${field.name}: a flag cannot hold its type`);
    return kind === undefined ? (schema.typeName === COIN ? "<coin>" : "<price>") : `<${kind}>`;
  }
  if (shortEnum(field) !== undefined) return `<${wordOf(field)}>`;
  if (field.enum !== undefined) return "<name>";
  if (field.scalar === ScalarType.BOOL) return undefined;
  if (cliField(field).text === CliText.TIME) return "<time>";
  if (cliField(field).text === CliText.PART) return "<part>";
  if (cliField(field).text === CliText.NUMBER) return "<n>";
  if (cliField(field).text === CliText.DENOM) return "<denom>";
  if (field.scalar !== ScalarType.STRING) return "<n>";
  const scalar = scalarOf(field);
  return scalar === Scalar.ADDRESS || scalar === Scalar.VALIDATOR_ADDRESS ? "<address>" : "<text>";
}
