import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import { errorText, readFileText } from "../../../../util/index.ts";

/** Where engines look for descriptions of devices (CDI); the later folder wins. */
export const CDI_FOLDERS: readonly string[] = ["/etc/cdi", "/var/run/cdi"];

/** The class of graphics processors, whatever the vendor. */
export const GPU_CLASS = "gpu";

const MAX_SPEC_BYTES = 4 << 20;
/** Maximum devices per file; vendors describe a device up to three times. */
export const MAX_DEVICES = 1_024;
const MAX_NAME = 128;

// As the Container Device Interface has them. Labels of containers and requests to engines put `,` and `=` between names.
const kind = v.pipe(
  v.string(),
  v.maxLength(MAX_NAME, `the kind of the devices has at most ${MAX_NAME} characters`),
  v.regex(
    /^[a-z](?:[\w.-]*[a-z\d])?\/[a-z](?:[\w-]*[a-z\d])?$/i,
    "the kind of the devices is not of the form vendor.com/class",
  ),
);
const deviceName = v.pipe(
  v.string(),
  v.maxLength(MAX_NAME, `the name of a device has at most ${MAX_NAME} characters`),
  v.regex(/^[a-z\d](?:[\w.:-]*[a-z\d])?$/i, "the name of a device has other characters than CDI allows"),
);

const Edits = v.looseObject({
  deviceNodes: v.nullish(v.array(v.looseObject({ path: v.string(), hostPath: v.nullish(v.string()) }))),
});

const Spec = v.looseObject({
  cdiVersion: v.string(),
  kind,
  devices: v.pipe(
    v.array(v.looseObject({ name: deviceName, containerEdits: v.nullish(Edits) })),
    v.maxLength(MAX_DEVICES, `it describes more than ${MAX_DEVICES} devices`),
    v.check(
      (devices) => new Set(devices.map(({ name }) => name)).size === devices.length,
      "it describes one device twice",
    ),
  ),
  containerEdits: v.nullish(v.looseObject({})),
});

/**
 * A file of the Container Device Interface: devices of one kind (`nvidia.com/gpu`) and their changes to a container.
 */
export type CdiSpec = v.InferOutput<typeof Spec>;
export type CdiDevice = CdiSpec["devices"][number];

export interface ReadSpecs {
  /** Later folders take precedence when two files define the same device. */
  readonly specs: readonly CdiSpec[];
  /** Files that cannot be used, each with why. */
  readonly faults: readonly string[];
}

interface SpecFile {
  readonly path: string;
  readonly spec: CdiSpec;
}

/**
 * Reads all descriptions of devices. A missing folder has none. Devices that two files of one folder describe are left
 * out: engines follow the specification and give them to no container.
 */
export async function readSpecs(folders: readonly string[]): Promise<ReadSpecs> {
  const specs: CdiSpec[] = [];
  const faults: string[] = [];
  const disputed = new Set<string>();
  for (const folder of folders.toReversed()) {
    const files = await readFolder(folder, faults);
    for (const [names, devices] of disputes(files)) {
      faults.push(
        `${names} both describe ${devices.join(", ")}: engines give no container what two files of a folder describe`,
      );
      for (const each of devices) disputed.add(each);
    }
    for (const { spec } of files) specs.push(spec);
  }
  return { specs: specs.map((spec) => without(spec, disputed)), faults };
}

async function readFolder(folder: string, faults: string[]): Promise<SpecFile[]> {
  const files: SpecFile[] = [];
  for (const name of await specFiles(folder)) {
    const path = join(folder, name);
    try {
      files.push({ path, spec: v.parse(Spec, parse(readFileText(path, { maxBytes: MAX_SPEC_BYTES }))) });
    } catch (error) {
      faults.push(`${path}: ${errorText(error)}`);
    }
  }
  return files;
}

/** Graphics processors that two files describe, by the names of the files. */
function disputes(files: readonly SpecFile[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string>();
  const found = new Map<string, string[]>();
  for (const { path, spec } of files) {
    for (const device of gpuNames(spec)) {
      const other = owners.get(device);
      owners.set(device, other ?? path);
      if (other === undefined) continue;
      const files = `${other} and ${path}`;
      found.set(files, [...(found.get(files) ?? []), device]);
    }
  }
  return found;
}

function gpuNames({ kind, devices }: CdiSpec): string[] {
  return kind.split("/")[1] === GPU_CLASS ? devices.map(({ name }) => `${kind}=${name}`) : [];
}

function without(spec: CdiSpec, names: ReadonlySet<string>): CdiSpec {
  return { ...spec, devices: spec.devices.filter(({ name }) => !names.has(`${spec.kind}=${name}`)) };
}

async function specFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /\.(json|yaml)$/.test(name)).sort();
}
