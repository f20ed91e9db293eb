import { largest, printable, textTable } from "../../util/index.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "../../wire/index.ts";

/**
 * Columns of lists as paths into their rows, by the field that holds the rows. Short columns come first, because lines are
 * cut at the width of the terminal. Other lists show every field with a simple value.
 */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  bids: [
    ...["dseq", "gseq", "oseq"].map((name) => `bid.bid_id.${name}`),
    ...["bid.state", "bid.price", "bid.bid_id.provider", "bid.bid_id.owner"],
  ],
  certificates: ["serial", "certificate.state"],
  delegation_responses: ["balance", "delegation.validator_address", "delegation.delegator_address"],
  deployments: [
    ...["deployment.deployment_id.dseq", "deployment.state", "escrow_account.balance"],
    ...["deployment.created_at", "deployment.deployment_id.owner"],
  ],
  leases: [
    ...["dseq", "gseq", "oseq"].map((name) => `lease.lease_id.${name}`),
    ...["lease.state", "lease.price", "lease.lease_id.provider", "lease.lease_id.owner"],
  ],
  orders: [
    ...["dseq", "gseq", "oseq"].map((name) => `order_id.${name}`),
    ...["state", "spec.name", "created_at", "order_id.owner"],
  ],
  proposals: ["id", "status", "title", "voting_end_time", "proposer"],
  providers: ["owner", "host_uri", "auditor"],
  txs: ["height", "code", "gas_used", "timestamp", "txhash"],
  validators: [
    ...["description.moniker", "status", "tokens", "commission.commission_rates.rate", "jailed"],
    ...["operator_address", "address", "voting_power"],
  ],
  votes: ["voter", "options.0.option", "options.0.weight"],
};

/** A list as a table, and whether something of it was cut. */
export interface Table {
  readonly text: string;
  readonly isCut: boolean;
  /** `next_key` of the list, if it goes on. */
  readonly next?: string;
}

/** The table of a list: of an answer whose only list of records is its content. Undefined for everything else. */
export function tableOf(value: JsonValue, width: number | undefined): Table | undefined {
  const found = rowsOf(value);
  if (found === undefined) return undefined;
  const { name, rows, next } = found;
  const wanted = COLUMNS[name] ?? [];
  const paths = present(rows, wanted).length > 0 ? present(rows, wanted) : present(rows, simplePaths(rows));
  if (paths.length === 0) return undefined;
  const cells = rows.map((row) => paths.map((path) => cellOf(valueAt(row, path)) ?? ""));
  return { ...cutTable([paths.map(heading), ...cells], width), ...(next === undefined ? {} : { next }) };
}

/** Rows in columns, their lines cut at the width of a terminal, if there is one. */
export function cutTable(rows: readonly (readonly string[])[], width: number | undefined): Table {
  const lines = textTable(rows).trimEnd().split("\n");
  const most = width ?? Number.POSITIVE_INFINITY;
  const isCut = largest(lines.map(lengthOf), 0) > most;
  return { text: lines.map((line) => `${cut(line, most)}\n`).join(""), isCut };
}

const MORE = "...";

function cut(line: string, width: number): string {
  if (lengthOf(line) <= width) return line;
  return `${[...line].slice(0, Math.max(0, width - MORE.length)).join("")}${MORE}`;
}

function lengthOf(line: string): number {
  return [...line].length;
}

interface Rows {
  readonly name: string;
  readonly rows: readonly JsonObject[];
  readonly next?: string;
}

function rowsOf(value: JsonValue): Rows | undefined {
  if (isArray(value)) return recordsOf("", value);
  if (!isObject(value)) return undefined;
  const { pagination, ...fields } = value;
  const lists = Object.entries(fields).filter(([, each]) => isArray(each) || isObject(each));
  const [only, ...others] = lists;
  if (only === undefined || others.length > 0 || !isArray(only[1])) return undefined;
  // A record may hold a list too, beside its own fields.
  const isList = pagination !== undefined || Object.keys(fields).length === 1 || only[0] in COLUMNS;
  if (!isList) return undefined;
  const found = recordsOf(only[0], only[1]);
  const next = valueAt(value, "pagination.next_key");
  return found === undefined || typeof next !== "string" || next === "" ? found : { ...found, next };
}

function recordsOf(name: string, list: readonly JsonValue[]): Rows | undefined {
  const rows = list.filter((each) => isObject(each));
  return rows.length === 0 || rows.length < list.length ? undefined : { name, rows };
}

/** Paths of values that some row has. */
function present(rows: readonly JsonObject[], paths: readonly string[]): readonly string[] {
  return paths.filter((path) => rows.some((row) => cellOf(valueAt(row, path)) !== undefined));
}

/** Paths of all simple values, in the order of the first row that has them. */
function simplePaths(rows: readonly JsonObject[]): string[] {
  return [...new Set(rows.flatMap((row) => pathsIn(row, "")))];
}

function pathsIn(value: JsonValue, path: string): string[] {
  if (path !== "" && cellOf(value) !== undefined) return [path];
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((key) => pathsIn(value[key] ?? null, path === "" ? key : `${path}.${key}`));
}

function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const key of path.split(".")) {
    if (isArray(at)) at = at[Number(key)];
    else at = at !== undefined && isObject(at) ? at[key] : undefined;
  }
  return at;
}

/** The text of a simple value or of an amount; undefined for other records. */
function cellOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || isArray(value)) return undefined;
  if (!isObject(value)) return printable(String(value)).replaceAll(/\s+/g, " ");
  const { amount, denom, ...others } = value;
  if (typeof amount !== "string" || typeof denom !== "string" || Object.keys(others).length > 0) return undefined;
  return printable(`${trimZeros(amount)}${denom}`);
}

/** Prices have 18 decimals, most of them zeros. */
function trimZeros(amount: string): string {
  return amount.includes(".") ? amount.replace(/\.?0+$/, "") : amount;
}

function heading(path: string): string {
  return (path.split(".").at(-1) ?? path).replaceAll("_", " ").toUpperCase();
}
