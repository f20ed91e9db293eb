import { statSync } from "node:fs";
import { dirname } from "node:path";
import {
  errorText,
  isRecord,
  type Logger,
  makePrivateDirectory,
  readFileText,
  replaceFile,
} from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import type { BackendRouting } from "../../cluster/index.ts";
import { ChallengeAnswers } from "../decide.ts";
import { Routes } from "../routes.ts";
import type { PlaneIngress } from "../server.ts";
import { Certificates } from "../tls/certificates.ts";
import {
  type DynamicConfiguration,
  dynamicConfiguration,
  type HttpSections,
  SECTIONS,
  together,
} from "./configuration.ts";

/** Changes within this time are written together. */
export const SETTLE_MS = 50;
/** Least time between two such writes: Traefik takes a tenth of a second of a core for each, with 500 host names. */
export const PACE_MS = 500;
/** How often certificates are checked, and a file is tried again that could not be written. */
const LOOK_MS = 2_000;
const MAX_FILE = 256 << 20;

export interface RoutesFileOptions {
  /** Its name ends in `.yaml`. */
  readonly path: string;
  readonly backends: BackendRouting["backends"];
  /** Folders with certificates. */
  readonly folders: readonly string[];
  readonly log: Logger;
}

/**
 * An ingress that carries nothing: it keeps all routes in a file that a Traefik of the operator's follows. The file is replaced as a
 * whole, readable by the provider alone, because the keys of certificates are in it.
 */
export class RoutesFile implements PlaneIngress {
  readonly routes = new Routes();
  /** No ACME server asks here. */
  readonly challenges = new ChallengeAnswers();
  readonly #options: RoutesFileOptions;
  readonly #certificates: Certificates;
  /** Host names that were routed since the start. */
  readonly #seen = new Set<string>();
  /** Contents of the file at the start, which count until all leases are known. */
  #before: HttpSections = {};
  #text = "";
  /** Differs after each change of the file by somebody else. */
  #version = "";
  #writtenAt = Number.NEGATIVE_INFINITY;
  #problems: readonly string[] = [];
  #settling: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(options: RoutesFileOptions) {
    this.#options = options;
    this.#certificates = new Certificates(options.folders);
  }

  async listen(): Promise<number> {
    this.#before = this.#read();
    this.look();
    this.#write();
    this.#looking = setInterval(() => this.look(), LOOK_MS).unref();
    return 0;
  }

  exposeService(): Promise<number> {
    return Promise.reject(new Error("an external ingress has no ports of services"));
  }

  async removeLease(id: LeaseKey): Promise<void> {
    this.routes.removeLease(id);
    this.changed();
  }

  /** Takes up certificates that have changed, and writes the file anew if somebody has changed or removed it. */
  look(): void {
    if (this.#version !== versionOf(this.#options.path)) this.#text = "";
    const { problems } = this.#certificates.look();
    this.#tell(problems);
    this.changed();
  }

  /** Routes or addresses are others than before. Nothing is written before the file of the last run was read. */
  changed(): void {
    for (const host of this.routes.hosts()) this.#seen.add(host);
    if (this.#looking === undefined) return;
    const rest = this.#writtenAt + PACE_MS - performance.now();
    this.#settling ??= setTimeout(
      () => {
        this.#writtenAt = performance.now();
        this.#write();
      },
      Math.max(SETTLE_MS, rest),
    );
  }

  listeners(): Map<string, never> {
    return new Map<string, never>();
  }

  async drain(): Promise<void> {
    this.#stop();
  }

  /** Nothing is routed any more. */
  async close(): Promise<void> {
    this.#stop();
    for (const host of this.routes.hosts()) this.routes.remove(host);
    this.routes.isWhole = true;
    this.#write();
  }

  #stop(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    clearTimeout(this.#settling);
  }

  #tell(problems: readonly string[]): void {
    const { log } = this.#options;
    for (const problem of problems)
      if (!this.#problems.includes(problem)) log.error("certificate not used", { err: problem });
    this.#problems = problems;
  }

  #read(): HttpSections {
    try {
      const file: unknown = JSON.parse(readFileText(this.#options.path, { maxBytes: MAX_FILE }));
      return isRecord(file) ? readSections(file.http) : {};
    } catch {
      return {};
    }
  }

  #write(): void {
    this.#settling = undefined;
    const { path, log } = this.#options;
    const text = JSON.stringify(this.#configuration(), undefined, 1);
    if (text === this.#text) return;
    try {
      makePrivateDirectory(dirname(path));
      replaceFile(path, text);
      this.#text = text;
      this.#version = versionOf(path);
    } catch (error) {
      log.error("routes not published, trying again", { path, err: errorText(error) });
    }
  }

  #configuration(): DynamicConfiguration {
    const { backends } = this.#options;
    const routes = this.routes.entries().map(([host, target]) => {
      return { host, target, backends: backends(target.lease, target.service, target.port) };
    });
    const now = dynamicConfiguration(routes, this.#certificates.presented);
    if (this.routes.isWhole) return now;
    return { ...now, http: together([this.#kept(), now.http]) };
  }

  /** Contents of the file at the start for host names that no lease has had since. */
  #kept(): HttpSections {
    const isKept = ([name]: [string, object]) => !this.#seen.has(name.replace(/^grpc\//, ""));
    const sections = SECTIONS.map((section) => {
      return [section, Object.fromEntries(Object.entries(this.#before[section] ?? {}).filter(isKept))] as const;
    });
    return Object.fromEntries(sections);
  }
}

/** Sections of a file of the last run; a file of somebody else is written anew. */
function readSections(http: unknown): HttpSections {
  if (!isRecord(http)) return {};
  const sections = SECTIONS.map((section) => {
    const entries = http[section];
    return [section, isRecord(entries) && Object.values(entries).every(isRecord) ? entries : {}] as const;
  });
  return Object.fromEntries(sections);
}

/** Empty if there is no file that can be seen. */
function versionOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return "";
  }
}
