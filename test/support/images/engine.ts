import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extract } from "tar-stream";

/** The part of an engine that images need: loaded images and their names. */
export class ImageEngine {
  /** Ids by name. */
  readonly names = new Map<string, string>();
  /** Ids with containers. */
  readonly used = new Set<string>();
  /** Files of the archives that were loaded, by name. */
  readonly loaded: Map<string, Buffer>[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<ImageEngine> {
    const server = createServer((request, response) => {
      const ends = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
      engine.#answer(request).then(
        ([status, body]) => ends(status, body),
        (error) => ends(500, { message: String(error) }),
      );
    });
    const engine: ImageEngine = new ImageEngine(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return engine;
  }

  get socket(): string {
    return `tcp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage): Promise<[status: number, body: unknown]> {
    const url = decodeURIComponent(request.url ?? "");
    if (url === "/info") return [200, { Architecture: "amd64" }];
    if (url.startsWith("/images/json")) return [200, this.#list()];
    if (url.startsWith("/images/load")) return this.#load(request);
    const [, name = ""] = /^\/images\/(.+?)(?:\/json)?(?:\?.*)?$/.exec(url) ?? [];
    const id = this.names.get(name) ?? [...this.names.values()].find((each) => each === name);
    if (id === undefined) return [404, { message: "no such image" }];
    if (request.method !== "DELETE") return [200, { Id: id, RepoTags: this.#namesOf(id) }];
    const last = [...this.names.values()].filter((each) => each === id).length === 1;
    if (last && this.used.has(id)) return [409, { message: "image is in use by a container" }];
    this.names.delete(name);
    return [200, []];
  }

  #list(): object[] {
    const ids = new Set(this.names.values());
    return [...ids].map((id) => ({
      Id: id,
      RepoTags: this.#namesOf(id),
      Size: 1,
    }));
  }

  /** An unnamed image has no tags. */
  #namesOf(id: string): string[] {
    return [...this.names].filter(([name, each]) => each === id && name !== "<none>").map(([name]) => name);
  }

  async #load(request: IncomingMessage): Promise<[status: number, body: unknown]> {
    const files = new Map<string, Buffer>();
    const reader = extract();
    request.pipe(reader);
    for await (const entry of reader) {
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk);
      files.set(entry.header.name, Buffer.concat(chunks));
    }
    const [image] = JSON.parse(String(files.get("manifest.json")));
    for (const tag of image.RepoTags) this.names.set(tag, `sha256:${image.Config.replace(".json", "")}`);
    this.loaded.push(files);
    return [200, { stream: "Loaded" }];
  }
}
