import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pack } from "tar-stream";
import { spawnSync } from "./bounded.ts";

const BUSYBOX = ["/bin/busybox", "/usr/bin/busybox"];

/** How containers of an image start. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  /** Root if not set. */
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly ExposedPorts?: Readonly<Record<string, object>>;
}

/**
 * Writes a file with an image of a static BusyBox, as engines save and load images, and of further layers on top of it, which are
 * tar archives. Needs no registry.
 */
export async function writeImage(
  path: string,
  name: string,
  config: ImageConfig,
  more: readonly Uint8Array[] = [],
): Promise<void> {
  const layers = [await busyboxLayer(), ...more];
  const created = "1970-01-01T00:00:00Z";
  const rootfs = { type: "layers", diff_ids: layers.map((layer) => `sha256:${digest(layer)}`) };
  const image = {
    architecture: ARCHITECTURES[process.arch],
    os: "linux",
    created,
    config,
    rootfs,
    history: layers.map(() => ({ created })),
  };
  const tar = pack();
  const bytes = bytesOf(tar);
  tar.entry(
    { name: "manifest.json" },
    JSON.stringify([{ Config: "config.json", RepoTags: [name], Layers: layers.map((_, at) => `${at}.tar`) }]),
  );
  tar.entry({ name: "config.json" }, JSON.stringify(image));
  for (const [at, layer] of layers.entries()) tar.entry({ name: `${at}.tar` }, Buffer.from(layer));
  tar.finalize();
  writeFileSync(path, await bytes);
}

function digest(layer: Uint8Array): string {
  return createHash("sha256").update(layer).digest("hex");
}

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

async function busyboxLayer(): Promise<Buffer> {
  const program = BUSYBOX.find((path) => existsSync(path));
  if (program === undefined) throw new Error("there is no static BusyBox: apt-get install busybox-static");
  const tar = pack();
  const bytes = bytesOf(tar);
  for (const name of ["bin", "etc", "proc", "root", "sys", "var", "www"]) {
    tar.entry({ name, type: "directory", mode: 0o755 });
  }
  tar.entry({ name: "tmp", type: "directory", mode: 0o1777 });
  tar.entry({ name: "bin/busybox", mode: 0o755 }, readFileSync(program));
  const applets = spawnSync(program, ["--list"], { encoding: "utf8" }).stdout.split("\n");
  for (const name of applets.filter((each) => each !== "" && each !== "busybox")) {
    tar.entry({ name: `bin/${name}`, type: "symlink", linkname: "busybox" });
  }
  tar.entry({ name: "etc/passwd", mode: 0o644 }, "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n");
  tar.entry({ name: "etc/group", mode: 0o644 }, "root:x:0:\nuser:x:1000:\n");
  tar.entry({ name: "www/index.html", mode: 0o644 }, "It runs.\n");
  tar.finalize();
  return bytes;
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}
