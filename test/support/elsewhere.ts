import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fixture } from "./fixture.ts";
import type { TestKubernetesNode } from "./kubernetes-node.ts";
import { waitFor } from "./wait.ts";

const NAME = "elsewhere";
/** The cable between the node and its router. */
const LINK = { node: "10.215.0.1", router: "10.215.0.2" };

/**
 * A network behind the node's router, with a page on port 80 at each of its addresses. It lies in the room of the node, so that
 * addresses which the internet, clouds and operators have can stand in it; it goes with the room.
 */
export class Elsewhere {
  readonly #bed: TestKubernetesNode;

  private constructor(bed: TestKubernetesNode) {
    this.#bed = bed;
  }

  static async open(fixture: Fixture, bed: TestKubernetesNode, addresses: readonly string[]): Promise<Elsewhere> {
    const inside = `ip -n ${NAME}`;
    const script = [
      "set -e",
      `ip netns add ${NAME}`,
      `ip link add ${NAME} type veth peer name node netns ${NAME}`,
      `ip addr add ${LINK.node}/30 dev ${NAME}`,
      `ip link set ${NAME} up`,
      `${inside} link set lo up`,
      `${inside} addr add ${LINK.router}/30 dev node`,
      `${inside} link set node up`,
      `${inside} route add default via ${LINK.node}`,
      ...addresses.flatMap((each) => [
        `${inside} addr add ${each}/32 dev lo`,
        `ip route add ${each}/32 via ${LINK.router}`,
      ]),
    ];
    await bed.room.run("sh", ["-c", script.join("\n")]);
    const pages = join(fixture.folder, NAME);
    mkdirSync(pages);
    writeFileSync(join(pages, "index.html"), "reached\n");
    bed.control.run(NAME, ["ip", "netns", "exec", NAME, "busybox", "httpd", "-f", "-p", "80", "-h", pages]);
    const elsewhere = new Elsewhere(bed);
    await waitFor(() => elsewhere.reaches("127.0.0.1", 80), "the page of the network elsewhere");
    return elsewhere;
  }

  /** Whether a client there can connect. */
  async reaches(host: string, port: number): Promise<boolean> {
    const script = `busybox nc -w 3 ${host} ${port} < /dev/null > /dev/null 2>&1`;
    try {
      await this.#bed.room.run("ip", ["netns", "exec", NAME, "sh", "-c", script]);
      return true;
    } catch {
      return false;
    }
  }
}
