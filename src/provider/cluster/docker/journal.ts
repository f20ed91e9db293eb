import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorText, type Logger, makePrivateDirectory, replaceFile, syncDirectory } from "../../../util/index.ts";
import { checksum } from "../../durable.ts";
import { type LeaseSpec, leaseNamespace } from "../contract/index.ts";
import { persistentVolumes } from "./replica/plan.ts";

/** State of one lease that must survive a crash of the daemon. */
export interface LeaseRecord {
  readonly spec: LeaseSpec;
  /** Content id of the image per service, as pulled for this lease. */
  readonly images: Readonly<Record<string, ImagePin>>;
  /** Content ids of images that services had before and that may still be on the disk, the oldest first. */
  readonly earlier: readonly string[];
  /** Persistent volumes that were made, such as `db-0.data`: none is made a second time, because its data would be missing. */
  readonly volumes: readonly string[];
  /** Configuration per service whose roll-out failed and was undone. */
  readonly failed: Readonly<Record<string, FailedRollout>>;
  /** Set before the first thing of the lease is removed. */
  readonly closing: boolean;
}

export interface ImagePin {
  readonly reference: string;
  readonly imageId: string;
  /** Generation it was pulled for. */
  readonly generation: number;
}

export interface FailedRollout {
  readonly config: string;
  readonly error: string;
}

const FORMAT = 1;
/** Suffix of a file that was set aside. */
const ASIDE = ".unreadable";

/**
 * One JSON file per lease, replaced atomically and flushed to disk before a call that changed it returns. A file
 * that cannot be read is left where it is and reported: its workloads keep running; we do not act on a guess.
 */
export class Journal {
  readonly #folder: string;
  readonly #log: Logger;

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  async load(): Promise<LeaseRecord[]> {
    makePrivateDirectory(this.#folder);
    const records: LeaseRecord[] = [];
    for (const name of await readdir(this.#folder)) {
      if (!name.endsWith(".json")) continue;
      try {
        records.push(decode(await readFile(join(this.#folder, name), "utf8")));
      } catch (error) {
        this.#log.error("journal of a lease cannot be read, its workload is left alone", {
          file: name,
          err: errorText(error),
        });
      }
    }
    return records;
  }

  async save(record: LeaseRecord): Promise<void> {
    const path = this.#path(leaseNamespace(record.spec.id));
    // Anything that is not a file, which `load` has reported, must not be in the way.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) await rename(path, `${path}${ASIDE}`);
    replaceFile(path, encode(record));
  }

  async remove(namespace: string): Promise<void> {
    const path = this.#path(namespace);
    for (const each of [path, `${path}${ASIDE}`]) await rm(each, { force: true, recursive: true });
    syncDirectory(this.#folder);
  }

  #path(namespace: string): string {
    return join(this.#folder, `${namespace}.json`);
  }
}

export function encode(record: LeaseRecord): string {
  const { spec } = record;
  const text = JSON.stringify({
    format: FORMAT,
    ...record,
    spec: { ...spec, id: { ...spec.id, dseq: spec.id.dseq.toString() }, hosts: [...spec.hosts] },
  });
  return `${text}\n${checksum(text)}\n`;
}

interface StoredSpec extends Omit<LeaseSpec, "id" | "hosts"> {
  readonly id: Omit<LeaseSpec["id"], "dseq"> & { readonly dseq: string };
  readonly hosts: readonly (readonly [string, readonly string[]])[];
}

interface StoredRecord extends Omit<LeaseRecord, "spec" | "earlier" | "volumes"> {
  readonly format: number;
  readonly spec: StoredSpec;
  readonly earlier?: readonly string[];
  readonly volumes?: readonly string[];
}

export function decode(text: string): LeaseRecord {
  const [body = "", sum = "", ...more] = text.split("\n");
  // Older releases wrote no checksum; a truncated file fails in `JSON.parse`, another format in the check below.
  if (sum !== "" && (sum !== checksum(body) || more.join("") !== "")) throw new Error("its checksum is another");
  const stored = JSON.parse(body) as StoredRecord;
  if (stored.format !== FORMAT) throw new Error(`unknown journal format ${stored.format}`);
  const { spec, images, earlier = [], failed, closing } = stored;
  // Older releases noted neither the images of before nor volumes, which are made once the image of their service is there.
  const { volumes = persistentVolumes(spec.group.services.filter(({ name }) => name in images)) } = stored;
  const whole = { ...spec, id: { ...spec.id, dseq: BigInt(spec.id.dseq) }, hosts: new Map(spec.hosts) };
  return { spec: whole, images, earlier, volumes, failed, closing };
}
