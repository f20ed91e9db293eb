import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorText, type Logger, makePrivateDirectory, syncDirectory } from "../../util/index.ts";
import { checksum, decodeJson, encodeJson } from "../durable.ts";
import type { Reservation } from "./inventory.ts";

/** Readable and writable only by the provider. */
const PRIVATE = 0o600;
/** The file is rewritten once it has this many lines more than four per reservation. */
const SPARE_LINES = 1_000;

/** One line of the file: the reservation of an order, or that it has none any longer. */
type Entry = readonly [order: string, reservation: Reservation | null];

/**
 * The reservations on disk: an append-only file of lines, each the new state of one order. Simultaneous changes share
 * one write and one sync. Torn or damaged lines are skipped: their contents are also on the chain, with which every
 * start compares the ledger.
 */
export class Ledger {
  readonly #path: string;
  readonly #log: Logger;
  readonly #lines = new Map<string, string>();
  /** Lines to append; undefined when the whole file is to be written. */
  #pending: string[] | undefined = [];
  #written = 0;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** The reservations of the last run. A file that cannot be read is logged and counts as empty. */
  load(): Reservation[] {
    const entries = this.#read();
    for (const [order, reservation] of entries) this.#remember(order, reservation);
    this.#written = entries.length;
    return [...new Map(entries).values()].filter((each) => each !== null);
  }

  /** Notes the new state of an order; `durable` resolves when it is on disk. */
  record(order: string, reservation: Reservation | null): void {
    this.#remember(order, reservation);
    this.#pending?.push(lineOf([order, reservation]));
    this.durable().catch((error: unknown) => {
      this.#log.warn("reservations were not written", { path: this.#path, err: errorText(error) });
    });
  }

  /**
   * Resolves when everything recorded so far is on disk; rejects with the error of the system when it cannot be
   * written.
   */
  durable(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#running = this.#write();
        return this.#running;
      });
    return this.#next;
  }

  #remember(order: string, reservation: Reservation | null): void {
    if (reservation === null) this.#lines.delete(order);
    else this.#lines.set(order, lineOf([order, reservation]));
  }

  async #write(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    try {
      if (pending === undefined || this.#written + pending.length > 4 * this.#lines.size + SPARE_LINES) {
        await this.#replace();
      } else if (pending.length > 0) {
        await this.#append(pending);
      }
    } catch (error) {
      // Some of the lines may be in the file, and it is not known which are missing.
      this.#pending = undefined;
      throw error;
    }
  }

  async #append(lines: readonly string[]): Promise<void> {
    makePrivateDirectory(dirname(this.#path));
    // A line begins with a line end, which separates it from a torn line before it.
    await withFile(this.#path, "a", (file) => file.writeFile(`\n${lines.join("\n")}\n`));
    this.#written += lines.length;
  }

  async #replace(): Promise<void> {
    makePrivateDirectory(dirname(this.#path));
    const temporary = `${this.#path}.new`;
    const lines = [...this.#lines.values()];
    await rm(temporary, { force: true, recursive: true });
    await withFile(temporary, "wx", (file) => file.writeFile(`${lines.join("\n")}\n`));
    await rename(temporary, this.#path);
    syncDirectory(dirname(this.#path));
    this.#written = lines.length;
  }

  #read(): Entry[] {
    try {
      const isNew = !existsSync(this.#path);
      if (isNew) this.#pending = undefined;
      const text = isNew ? oldLedger(this.#path) : readFileSync(this.#path, "utf8");
      return text.split("\n").flatMap((line, i) => this.#parse(line, i));
    } catch (error) {
      this.#log.error("reservations cannot be read; they are taken from the chain again", { err: errorText(error) });
      this.#pending = undefined;
      this.#setAside();
      return [];
    }
  }

  /** An unreadable file often cannot be replaced either, and without its ledger the provider bids on nothing. */
  #setAside(): void {
    const aside = `${this.#path}.unreadable`;
    try {
      rmSync(aside, { recursive: true, force: true });
      if (existsSync(this.#path)) renameSync(this.#path, aside);
    } catch (error) {
      this.#log.error("the ledger cannot be set aside", { path: this.#path, err: errorText(error) });
    }
  }

  #parse(line: string, index: number): Entry[] {
    if (line === "") return [];
    try {
      return [entryOf(decodeJson(line))];
    } catch {
      this.#log.error("a damaged reservation is left out; it is taken from the chain again", {
        file: this.#path,
        line: index + 1,
      });
      return [];
    }
  }
}

/** With a checksum as the last of the list, which older releases ignore. */
function lineOf([order, reservation]: Entry): string {
  return encodeJson([order, reservation, checksum(encodeJson([order, reservation]))]);
}

function entryOf(value: unknown): Entry {
  if (!Array.isArray(value) || typeof value[0] !== "string") throw new Error("not a line of the ledger");
  const [order, reservation, sum] = value;
  if (sum !== undefined && sum !== checksum(encodeJson([order, reservation]))) throw new Error("changed on the disk");
  if (reservation === null) return [order, null];
  if (!Array.isArray(reservation?.rows) || !Array.isArray(reservation?.placement)) throw new Error("not a reservation");
  // Only the provider can write the file, in exactly this shape.
  return [order, withGpuKinds(reservation as Reservation)];
}

/** Rows that an older release has written name no kinds of GPU. */
function withGpuKinds(reservation: Reservation): Reservation {
  return { ...reservation, rows: reservation.rows.map((row) => ({ ...row, gpuKinds: row.gpuKinds ?? [] })) };
}

/** The text of the ledger that an older release wrote: one list in one file. */
function oldLedger(path: string): string {
  const old = join(dirname(path), "reservations.json");
  if (!existsSync(old)) return "";
  const list: unknown = decodeJson(readFileSync(old, "utf8"));
  return Array.isArray(list) ? list.map((each: Reservation) => lineOf([each.order, each])).join("\n") : "";
}

async function withFile(path: string, flags: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, PRIVATE);
  try {
    await work(file);
    await file.datasync();
  } finally {
    await file.close();
  }
}
