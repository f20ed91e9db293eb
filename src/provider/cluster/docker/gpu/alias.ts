import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readFileText, replaceFile } from "../../../../util/index.ts";
import { type CdiSpec, MAX_DEVICES } from "./specs.ts";

/** Where engines read descriptions that are made at run time. */
export const ALIAS_FOLDER = "/var/run/cdi";

const READABLE = 0o644;
const MAX_ALIAS_BYTES = 16 << 20;

/** A device in the body of the engine's create call. */
export interface DeviceMapping {
  readonly PathOnHost: string;
  readonly PathInContainer: string;
  readonly CgroupPermissions: string;
}

const SUFFIX = { PathInContainer: "svc", CgroupPermissions: "rwm" } as const;

/**
 * Podman's Docker-compatible API takes CDI devices only as paths, and turns them into `path:path:permissions`. Names of
 * devices may contain colons, so each device is described once more under such a name; the plain name is for releases
 * that will pass it on unchanged.
 */
export function aliasSpecs(prefix: string, specs: readonly CdiSpec[]): Map<string, CdiSpec> {
  const files = new Map<string, CdiSpec>();
  const described = new Set<string>();
  for (const spec of specs) {
    const kind = aliasKind(prefix, spec.kind);
    // The first device of a name counts; engines use no device that two files of one folder describe.
    const fresh = spec.devices.filter(({ name }) => !described.has(`${kind}=${name}`));
    for (const { name } of fresh) described.add(`${kind}=${name}`);
    const devices = fresh.flatMap((device) => [
      device,
      { ...device, name: `${device.name}:${SUFFIX.PathInContainer}:${SUFFIX.CgroupPermissions}` },
    ]);
    // A single file with all devices twice could exceed the read limit.
    for (let at = 0; at < devices.length; at += MAX_DEVICES) {
      files.set(`${prefix}-${files.size}.json`, { ...spec, kind, devices: devices.slice(at, at + MAX_DEVICES) });
    }
  }
  return files;
}

export function aliasMapping(prefix: string, name: string): DeviceMapping {
  const [kind = "", device = ""] = name.split("=");
  return { PathOnHost: `${aliasKind(prefix, kind)}=${device}`, ...SUFFIX };
}

/** Not of the class `gpu`, so that it does not count as another device. */
function aliasKind(prefix: string, kind: string): string {
  return `${prefix}.${kind.split("/")[0]}/svc-gpu`;
}

/** Writes new descriptions, and removes old ones. */
export function writeAliases(folder: string, prefix: string, files: ReadonlyMap<string, CdiSpec>): void {
  if (files.size > 0) mkdirSync(folder, { recursive: true });
  for (const name of ownFiles(folder, prefix)) if (!files.has(name)) rmSync(join(folder, name), { force: true });
  for (const [name, spec] of files) {
    const [path, text] = [join(folder, name), `${JSON.stringify(spec)}\n`];
    if (present(path) !== text) replaceFile(path, text, READABLE);
  }
}

function present(path: string): string | undefined {
  try {
    return readFileText(path, { maxBytes: MAX_ALIAS_BYTES });
  } catch {
    return undefined;
  }
}

function ownFiles(folder: string, prefix: string): string[] {
  try {
    return readdirSync(folder).filter(
      (name) => name.startsWith(`${prefix}-`) && /^\d+\.json$/.test(name.slice(prefix.length + 1)),
    );
  } catch {
    return [];
  }
}
