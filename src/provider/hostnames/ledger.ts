import { existsSync } from "node:fs";
import * as v from "valibot";
import { errorText, type Logger } from "../../util/index.ts";
import { parseJson, readText, saveJson, setAside } from "../durable.ts";

/** A name and its owner. `until`: milliseconds since 1970 at which its rest ends; null while it is in use. */
export interface LedgerEntry {
  readonly host: string;
  readonly owner: string;
  readonly until: number | null;
}

const ledgerSchema = v.array(v.object({ host: v.string(), owner: v.string(), until: v.nullable(v.number()) }));

/** Present and former owners of names, in one file, so that a resting name stays reserved after a crash. */
export class HostLedger {
  readonly #path: string;
  readonly #log: Logger;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** Nothing if there is no file; one that is damaged is set aside, and leases claim their names again. */
  load(): readonly LedgerEntry[] {
    if (!existsSync(this.#path)) return [];
    try {
      return v.parse(ledgerSchema, parseJson(this.#path, readText(this.#path)));
    } catch (error) {
      setAside(this.#path, "the list of host names", { suffix: "damaged", cause: error, log: this.#log });
      return [];
    }
  }

  /** A full disk ends no lease: what could not be written is written with the next change. */
  save(entries: readonly LedgerEntry[]): void {
    try {
      saveJson(this.#path, entries);
    } catch (error) {
      this.#log.error("the owners of host names cannot be written", { err: errorText(error) });
    }
  }
}
