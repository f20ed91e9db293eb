import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorText, type Logger, makePrivateDirectory } from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import { leaseNamespace } from "../../cluster/index.ts";
import { parseJson, readText, saveJson } from "../../durable.ts";
import { type LeaseRecord, parseRecord } from "./record.ts";

const SUFFIX = ".json";

/** The leases of this provider, one durable file each. */
export class LeaseStore {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #makeRoom: () => boolean;

  /** `makeRoom` is asked when the disk is full: true where there is more of it now. */
  constructor(folder: string, log: Logger, makeRoom: () => boolean = () => false) {
    this.#folder = folder;
    this.#log = log;
    this.#makeRoom = makeRoom;
    makePrivateDirectory(folder);
  }

  /**
   * All leases. A damaged file is set aside and reported; its workload stays until the tenant sends the manifest again.
   * Throws where a file cannot be read.
   */
  load(): LeaseRecord[] {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith(SUFFIX));
    return names.flatMap((name) => {
      const path = join(this.#folder, name);
      // What cannot be read now may be whole: it stays where it is.
      const text = readText(path);
      try {
        return [parseRecord(parseJson(path, text))];
      } catch (error) {
        renameSync(path, `${path}.damaged`);
        this.#log.error("lease record is damaged and was set aside", {
          file: `${name}.damaged`,
          err: errorText(error),
        });
        return [];
      }
    });
  }

  save(record: LeaseRecord): void {
    try {
      saveJson(this.#path(record.id), record);
    } catch (error) {
      const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
      if (!isFull || !this.#makeRoom()) throw error;
      saveJson(this.#path(record.id), record);
    }
  }

  remove(id: LeaseKey): void {
    rmSync(this.#path(id), { force: true });
  }

  #path(id: LeaseKey): string {
    return join(this.#folder, leaseNamespace(id) + SUFFIX);
  }
}
