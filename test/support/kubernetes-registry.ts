import { writeFileSync } from "node:fs";
import { join } from "node:path";
import bcrypt from "bcryptjs";
import { spawnSync } from "./bounded.ts";
import type { Fixture } from "./fixture.ts";
import { writeImage } from "./image-archive.ts";
import type { TestKubernetesNode } from "./kubernetes-node.ts";
import { waitFor } from "./wait.ts";

/** Its images lie at both ports; at the second one they are given to one user only. */
const PORTS = { open: 5000, closed: 5001, gone: 5002 } as const;
export const REGISTRY_USER = { username: "tenant", password: "correct horse" } as const;

/** A registry in the room of a node, which knows it by names and reaches it without TLS. */
export class TestRegistry {
  /** Under this name everybody gets images. */
  static readonly open = "open.example.com";
  /** The same with a password. */
  static readonly closed = "closed.example.com";
  /** Here nothing answers. */
  static readonly gone = "gone.example.com";
  readonly #bed: TestKubernetesNode;
  readonly #folder: string;

  private constructor(bed: TestKubernetesNode, folder: string) {
    this.#bed = bed;
    this.#folder = folder;
  }

  /** Why there can be none here. */
  static missing(): string | undefined {
    const { error } = spawnSync("docker-registry", ["--version"], { stdio: "ignore" });
    return error === undefined ? undefined : "docker-registry is not installed";
  }

  static async start(fixture: Fixture, bed: TestKubernetesNode): Promise<TestRegistry> {
    const registry = new TestRegistry(bed, fixture.tempHome("registry"));
    const { username, password } = REGISTRY_USER;
    const users = join(registry.#folder, "users");
    writeFileSync(users, `${username}:${bcrypt.hashSync(password, 4)}\n`);
    await registry.#serve(TestRegistry.open, PORTS.open, {});
    await registry.#serve(TestRegistry.closed, PORTS.closed, { auth: { htpasswd: { realm: "test", path: users } } });
    bed.placeRegistry(TestRegistry.gone, `http://${bed.address}:${PORTS.gone}`);
    return registry;
  }

  /** Puts an image of BusyBox there that says its tag in the variable TAG, and leaves nothing of it on the node. */
  async push(path: string, tag: string): Promise<void> {
    const name = `${this.#bed.address}:${PORTS.open}/${path}:${tag}`;
    const file = join(this.#folder, "image.tar");
    await writeImage(file, name, {
      Cmd: ["httpd", "-f", "-p", "80", "-h", "/www"],
      User: "1000",
      Env: ["PATH=/bin", `TAG=${tag}`],
    });
    await this.#bed.loadImage(file);
    await this.#bed.engineTool("images", "push", "--plain-http", name);
    await this.#bed.engineTool("images", "rm", "--sync", name);
  }

  async #serve(name: string, port: number, more: object): Promise<void> {
    const [host, file] = [`${this.#bed.address}:${port}`, join(this.#folder, `${name}.json`)];
    const storage = { filesystem: { rootdirectory: join(this.#folder, "images") } };
    // JSON is YAML too.
    writeFileSync(
      file,
      JSON.stringify({ version: 0.1, log: { level: "error" }, storage, http: { addr: host }, ...more }),
    );
    this.#bed.placeRegistry(name, `http://${host}`);
    this.#bed.control.run(`registry-${name}`, ["docker-registry", "serve", file]);
    await waitFor(async () => [200, 401].includes((await fetch(`http://${host}/v2/`)).status), "the registry");
  }
}
