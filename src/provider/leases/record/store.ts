import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Logger, makePrivateDirectory } from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import { leaseNamespace } from "../../cluster/index.ts";
import { parseJson, readText, saveJson, setAside } from "../../durable.ts";
import { type LeaseRecord, parseRecord } from "./record.ts";

const SUFFIX = ".json";
/** Suffixes of files that are set aside. */
const ASIDE = ["unreadable", "damaged"] as const;

/** The leases of this provider, one durable file each. */
export class LeaseStore {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #makeRoom: () => boolean;

  /** `makeRoom` is called when the disk is full; it returns true if it freed some space. */
  constructor(folder: string, log: Logger, makeRoom: () => boolean = () => false) {
    this.#folder = folder;
    this.#log = log;
    this.#makeRoom = makeRoom;
    makePrivateDirectory(folder);
  }

  /**
   * All leases. A file that is damaged or cannot be read is set aside and reported: its record is made again from cluster
   * and chain.
   */
  load(): LeaseRecord[] {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith(SUFFIX));
    return names.flatMap((name) => this.#read(name));
  }

  #read(name: string): LeaseRecord[] {
    const path = join(this.#folder, name);
    let suffix: (typeof ASIDE)[number] = "unreadable";
    try {
      const text = readText(path);
      suffix = "damaged";
      const record = parseRecord(parseJson(path, text));
      if (leaseNamespace(record.id) + SUFFIX !== name) throw new Error("it is the record of another lease");
      return [record];
    } catch (error) {
      setAside(path, "lease record", { suffix, cause: error, log: this.#log });
      return [];
    }
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

  /** Removes files set aside for the lease too. */
  remove(id: LeaseKey): void {
    const path = this.#path(id);
    for (const suffix of ["", ...ASIDE.map((word) => `.${word}`)]) {
      rmSync(`${path}${suffix}`, { force: true, recursive: true });
    }
  }

  #path(id: LeaseKey): string {
    return join(this.#folder, leaseNamespace(id) + SUFFIX);
  }
}
