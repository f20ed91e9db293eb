import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

/** How a place of the test registry answers. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const TYPES = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** A tar with files of these names and contents. */
export async function tarOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name }, text);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A web server on loopback that holds what tests put into it, and counts who comes. */
export class TestRegistry {
  readonly places = new Map<string, Answer>();
  readonly asked: string[] = [];
  readonly #server: Server;
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", () => this.connections++);
  }

  static async start(tls?: { readonly key: string; readonly cert: string }): Promise<TestRegistry> {
    const listener: RequestListener = (request, response) => registry.#answer(request, response);
    const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    const registry: TestRegistry = new TestRegistry(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return registry;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  put(path: string, body: Buffer, type = "application/octet-stream"): void {
    this.places.set(path, (_, response) => response.writeHead(200, { "content-type": type }).end(body));
  }

  /** Puts an image there; the changes make it a wrong one. */
  addImage(name: string, tag: string, layers: readonly Buffer[], changes: ImageChanges = {}): string {
    const packed = layers.map((layer) => (changes.plain === true ? layer : gzipSync(layer)));
    const config = Buffer.from(
      JSON.stringify({
        architecture: "amd64",
        os: "linux",
        rootfs: { type: "layers", diff_ids: layers.map(digestOf) },
        config: { Cmd: ["/run"] },
        ...changes.config,
      }),
    );
    for (const blob of [...packed, config]) this.put(`/v2/${name}/blobs/${digestOf(blob)}`, blob);
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: TYPES.manifest,
        config: { mediaType: TYPES.config, digest: digestOf(config), size: config.length },
        layers: packed.map((blob) => ({ mediaType: TYPES.layer, digest: digestOf(blob), size: blob.length })),
        ...changes.manifest,
      }),
    );
    this.put(`/v2/${name}/manifests/${tag}`, manifest, TYPES.manifest);
    this.put(`/v2/${name}/manifests/${digestOf(manifest)}`, manifest, TYPES.manifest);
    return digestOf(manifest);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? "";
    this.asked.push(url);
    const place = this.places.get(url.replace(/\?.*$/, ""));
    if (place === undefined) response.writeHead(404).end();
    else place(request, response);
  }
}

export interface ImageChanges {
  readonly config?: object;
  readonly manifest?: object;
  /** Layers are sent uncompressed. */
  readonly plain?: boolean;
}
