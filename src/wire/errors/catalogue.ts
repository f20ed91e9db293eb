import { type ErrorFactory, sdkErrors } from "../../util/index.ts";
import { MODULE_ERRORS } from "./tables.ts";

export type ErrorTable = Readonly<Record<string, ErrorFactory>>;

/** Every error that a transaction or a query of the chain can end with, by codespace. */
export const CHAIN_ERRORS: ReadonlyMap<string, ErrorTable> = new Map<string, ErrorTable>([
  ["sdk", sdkErrors],
  ...MODULE_ERRORS,
]);

/** How the modules say that a record does not exist. */
export const NOT_FOUND_ERRORS: readonly ErrorFactory[] = [...CHAIN_ERRORS.values()]
  .flatMap((table) => Object.values(table))
  .filter(({ isAbsence }) => isAbsence);

/** The row of a code that a node returned. */
export function chainError(codespace: string, code: number): ErrorFactory | undefined {
  return Object.values(CHAIN_ERRORS.get(codespace) ?? {}).find((row) => row.code === code);
}
