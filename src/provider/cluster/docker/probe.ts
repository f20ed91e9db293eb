import { buffer } from "node:stream/consumers";
import type { LeaseKey } from "../../../wire/index.ts";
import { type HostFault, hostFault } from "../../reasons.ts";
import { type ClusterNews, type ClusterProbe, isProbeLease, PROBE_PORT } from "../contract/index.ts";
import type { EngineApi } from "./api/api.ts";
import { engineWords, hostReason, ignoreNotFound, isOwnRefusal, startReason } from "./api/failure.ts";
import { ensureImage } from "./images/made.ts";

/** Programs by the engine's name for the architecture: machine number of ELF, and code, assembled from `tools/probe/`. */
const PROGRAMS: Readonly<Record<string, { readonly machine: number; readonly code: string }>> = {
  amd64: {
    machine: 62,
    code:
      "uAIAAABIjT3CAAAAvkEAAAC6gAEAAA8FhcAPiKIAAACJx7gBAAAASI01vgAAALo+AAAADwU9PgAAAA+FggAAALgpAAAAvwIAAAC+AQAAADHSDwWJ" +
      "w7gxAAAAid9IjTV5AAAAuhAAAAAPBYXAdVS4MgAAAInfvhAAAAAPBbgrAAAAid8x9jHSDwWFwHg1icUxwInvSI20JADw//+6ABAAAA8FuAEAAACJ" +
      "70iNNTwAAAC6PgAAAA8FuAMAAACJ7w8F67q4PAAAAL8BAAAADwUvZGF0YS9wcm9iZQBmkAIAH5AAAAAAAAAAAAAAAABIVFRQLzEuMSAyMDAgT0sN" +
      "CmNvbnRlbnQtbGVuZ3RoOiA1DQpjb25uZWN0aW9uOiBjbG9zZQ0KDQpydW5zCg==",
  },
  arm64: {
    machine: 183,
    code:
      "YAyAkkEGABAiCIDSAzCA0ggHgNIBAADUQAX4t2EGABDCB4DSCAiA0gEAANQf+ADxgQQAVEAAgNIhAIDSAgCA0sgYgNIBAADU8wMAqmEEABACAoDS" +
      "CBmA0gEAANQgAwC14AMTqgECgNIoGYDSAQAA1OADE6oBAIDSAgCA0kgZgNIBAADU4AH4t/QDAKrhB0DRAgCC0ugHgNIBAADU4AMUqkECABDCB4DS" +
      "CAiA0gEAANTgAxSqKAeA0gEAANTt//8XIACA0qgLgNIBAADUL2RhdGEvcHJvYmUAAgAfkAAAAAAAAAAAAAAAAEhUVFAvMS4xIDIwMCBPSw0KY29u" +
      "dGVudC1sZW5ndGg6IDUNCmNvbm5lY3Rpb246IGNsb3NlDQoNCnJ1bnMK",
  },
};

/** Bytes of the file in front of the code: the headers of the file and of its one segment. */
const HEADERS = 64 + 56;
/** Where a static program usually lies in memory. */
const BASE = 0x40_0000n;

/** A static program for Linux: writes a file in the volume of the trial, then answers every connection. */
export function probeProgram(architecture: string): Buffer | undefined {
  const program = PROGRAMS[architecture];
  if (program === undefined) return undefined;
  const code = Buffer.from(program.code, "base64");
  const head = Buffer.alloc(HEADERS);
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  head.writeUInt16LE(2, 16);
  head.writeUInt16LE(program.machine, 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BASE + BigInt(HEADERS), 24);
  head.writeBigUInt64LE(64n, 32);
  for (const [index, value] of [64, 56, 1].entries()) head.writeUInt16LE(value, 52 + 2 * index);
  // One segment to load, to read and to execute.
  head.writeUInt32LE(1, 64);
  head.writeUInt32LE(5, 68);
  const size = BigInt(HEADERS + code.length);
  for (const [index, value] of [0n, BASE, BASE, size, size, 0x1000n].entries())
    head.writeBigUInt64LE(value, 72 + 8 * index);
  return Buffer.concat([head, code]);
}

/** Version of the image: raised when the program or the files around it change. */
const VERSION = 1;

/** Results of starts of containers, and the image for trials. */
export class StartNews implements ClusterProbe {
  readonly #api: EngineApi;
  readonly #name: string;
  readonly #listeners = new Set<(news: ClusterNews) => void>();

  /** `prefix` is the prefix of this provider's names. */
  constructor(api: EngineApi, prefix: string) {
    this.#api = api;
    this.#name = `localhost/svc-probe/${prefix}`;
  }

  /** Full name of the image. */
  get tag(): string {
    return `${this.#name}:${VERSION}`;
  }

  async image(): Promise<string | undefined> {
    const { architecture } = await this.#api.info();
    const program = probeProgram(architecture);
    if (program === undefined) return undefined;
    const config = { Cmd: ["/probe"], ExposedPorts: { [`${PROBE_PORT}/tcp`]: {} } };
    await ensureImage(this.#api, { tag: this.tag, config, tree: () => tree(program) });
    return this.tag;
  }

  async removeImage(): Promise<void> {
    for (const { tag } of await this.#api.listTags(this.#name)) await this.#api.removeImage(tag).catch(ignoreNotFound);
  }

  explain(error: unknown): HostFault {
    return hostFault(hostReason(error), engineWords(error));
  }

  watch(listener: (news: ClusterNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  returned(): void {
    this.#tell({ kind: "returned" });
  }

  started(lease: LeaseKey): void {
    this.#tell({ kind: "started", lease });
  }

  /** The driver's own refusals, and programs that cannot be started, are no faults of the host, except in the trial. */
  failed(lease: LeaseKey, error: unknown): void {
    if (!isProbeLease(lease) && (isOwnRefusal(error) || startReason(error) === "program")) return;
    const reason = hostReason(error);
    this.#tell({ kind: "failed", lease, reason, cause: engineWords(error) });
  }

  #tell(news: ClusterNews): void {
    for (const listener of this.#listeners) listener(news);
  }
}

async function tree(program: Buffer): Promise<Buffer> {
  const { pack } = await import("tar-stream");
  const tar = pack();
  tar.entry({ name: "probe", mode: 0o755 }, program);
  for (const name of ["data", "dev", "etc", "proc", "run", "sys"]) tar.entry({ name, type: "directory", mode: 0o755 });
  tar.finalize();
  return buffer(tar);
}
