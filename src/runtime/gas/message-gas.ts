import type { DescService } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";

/** A row of the parameter `message_gas`: the short name of a message ("MsgCreateBid") and its fixed gas. */
export interface GasRow {
  readonly message: string;
  readonly gas: bigint;
}

/**
 * No price of gas is higher: what a transaction of the largest size could use in all still fits the signed 64 bits of
 * its result.
 */
export const MAX_GAS_PRICE = 10n ** 12n;

/** Sent by governance alone, when a proposal has passed: it has no fixed gas. */
const UNPRICED = "MsgUpdateParams";

/** Prices by message as rows of the parameter. */
export function gasTable(prices: Readonly<Record<string, bigint>>): GasRow[] {
  return Object.entries(prices).map(([message, gas]) => ({ message, gas }));
}

/** The fixed gas of a message. Genesis only accepts tables that price every message. */
export function fixedGas(table: readonly GasRow[], message: string): bigint {
  if (message === UNPRICED) return 0n;
  const row = table.find((each) => each.message === message);
  assert(row !== undefined, `message_gas has no row for ${message}`);
  return row.gas;
}

/** Faults of a gas table: every message of the service has one row, no other message has, and no price is too high. */
export function gasTableProblems(service: DescService, table: readonly GasRow[]): string[] {
  const names = service.methods.map(({ input }) => input.name).filter((name) => name !== UNPRICED);
  const rows = table.map(({ message }) => message);
  const unknown = rows.filter((name, i) => !names.includes(name) || rows.indexOf(name) !== i);
  const dear = table.filter(({ gas }) => gas > MAX_GAS_PRICE);
  const missing = names.filter((name) => !rows.includes(name));
  return [
    ...unknown.map((name) => `params.message_gas: ${JSON.stringify(name)} appears twice or names no message`),
    ...dear.map(({ message }) => `params.message_gas: ${message} costs more than ${MAX_GAS_PRICE}`),
    ...missing.map((name) => `params.message_gas: there is no row for ${name}`),
  ];
}
