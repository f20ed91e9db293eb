import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { execFileSync } from "../../support/bounded.ts";
import { type Answer, digestOf, TestRegistry, TYPES, tarOf } from "../../support/images/registry.ts";

const MEBIBYTE = 1 << 20;
const MANY = 10_000;

/** Images that try to exhaust the disk, memory, processor or places; each with its expected report. */
export interface HostileImage {
  readonly name: string;
  readonly told: RegExp;
}

/** A registry on loopback with such images. `most`: bytes that an image may take; `folder`: a place for files. */
export async function hostileRegistry(
  most: number,
  folder: string,
): Promise<{ readonly registry: TestRegistry; readonly images: readonly HostileImage[] }> {
  const registry = await TestRegistry.start();
  const images: HostileImage[] = [];
  const add = (name: string, told: RegExp): string => {
    images.push({ name, told });
    return `hostile/${name}`;
  };
  const large = /takes more than/;
  registry.addImage(add("bomb", large), "1", [await tarOf({ zeros: "\0".repeat(most * 2) })]);
  registry.addImage(add("layers", large), "1", await manyLayers(most));
  registry.addImage(add("files", large), "1", [await tarOf(manyFiles())]);
  registry.addImage(add("promise", large), "1", NAMED, { manifest: { layers: [{ ...LAYER, size: 2 ** 50 }] } });
  registry.addImage(add("holes", /a file has holes/), "1", [holes(folder)]);
  registry.addImage(add("header", /is too long/), "1", [await longHeader(most)]);
  registry.places.set(`/v2/${add("endless", /its manifest is too long/)}/manifests/1`, endless);
  registry.addImage(add("layer", /is not what its manifest names/), "1", NAMED, { manifest: { layers: [LAYER] } });
  registry.places.set(`/v2/hostile/layer/blobs/${LAYER.digest}`, endless);
  return { registry, images };
}

/** As many layers as the manifest names. */
const NAMED = [Buffer.alloc(0)];
const LAYER = { mediaType: TYPES.layer, digest: digestOf(Buffer.alloc(0)), size: 20 * MEBIBYTE };

function manyFiles(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`f${index}`, ""]));
}

/** Many layers, each small enough. */
async function manyLayers(most: number): Promise<Buffer[]> {
  const layers: Buffer[] = [];
  for (let index = 0; index < 8; index++) {
    layers.push(await tarOf({ [`part-${index}`]: String(index).repeat(most / 6) }));
  }
  return layers;
}

/** A tebibyte that takes no room until it is unpacked. */
function holes(folder: string): Buffer {
  const file = join(folder, "holes");
  execFileSync("truncate", ["--size=1T", file]);
  return execFileSync("tar", ["--sparse", "-C", folder, "-cf", "-", "holes"]);
}

/** Who keeps a header until it is whole keeps eight gibibytes. */
async function longHeader(most: number): Promise<Buffer> {
  const header = (await tarOf({ file: "" })).subarray(0, 512);
  header.write("77777777777\0", 124);
  header.write("x", 156);
  header.write(" ".repeat(8), 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, Buffer.alloc(most)]);
}

const NOISE = gzipSync(Buffer.alloc(64 << 10, "noise"), { level: 0 });

const endless: Answer = (_, response) => pour(response.writeHead(200));

function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(NOISE));
  if (!response.destroyed) response.once("drain", () => pour(response));
}
