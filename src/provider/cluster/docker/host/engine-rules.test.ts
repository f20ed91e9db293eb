import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../../util/index.ts";
import { EngineRules } from "./engine-rules.ts";

const [ONE, TWO] = ["svc-t-aaaaaaaaaaaa", "svc-t-bbbbbbbbbbbb"];
/** The first digits of the hash of its name, as Podman 4.3 with netavark 1.4 names the chains of the first network. */
const HASH = "12B163FDED222";

/** The rules of a published TCP port, in the words of `iptables -t nat -S`. */
function port(network: string, container: string, hostPort: number, target: string, chain: string): string[] {
  const match = `-p tcp -m tcp --dport ${hostPort}`;
  return [
    `-A NETAVARK-DN-${chain} -s 127.0.0.1/32 -d 127.0.0.1/32 ${match} -j NETAVARK-HOSTPORT-SETMARK`,
    `-A NETAVARK-DN-${chain} -d 127.0.0.1/32 ${match} -j DNAT --to-destination ${target}`,
    `-A NETAVARK-HOSTPORT-DNAT ${match} -m comment --comment "dnat name: ${network} id: ${container}" -j NETAVARK-DN-${chain}`,
  ];
}

const BASE = [
  "-N NETAVARK-DN-AA",
  "-N NETAVARK-DN-BB",
  "-A OUTPUT -m addrtype --dst-type LOCAL -j NETAVARK-HOSTPORT-DNAT",
];
const FIRST = port(ONE, "a1", 40_001, "10.1.0.2:80", "AA");
const SECOND = port(ONE, "a2", 40_002, "10.1.0.3:80", "AA");
const OTHER = port(TWO, "b1", 40_001, "10.2.0.2:80", "BB");

function rules(lines: readonly string[], { fails = false } = {}) {
  const steps: string[] = [];
  const tool = async (name: string, _: readonly string[], input?: string) => {
    if (name === "iptables") return `${lines.join("\n")}\n`;
    if (fails) throw new Error("busy");
    steps.push(...(input ?? "").split("\n").slice(1, -2));
    return "";
  };
  return { steps, rules: new EngineRules("svc-t", silentLogger, tool) };
}

const deleted = (lines: readonly string[]) => lines.map((line) => line.replace(/^-A/, "-D")).sort();
const started = (id: string, address: string, hostPort: number) => {
  return { id, address, ports: new Map([["80/tcp", hostPort]]) };
};
const runs = async () => true;
const isGone = async () => false;

describe("ports that the engine left", () => {
  it("go with their container, and nobody else's", async () => {
    const foreign = port("podman", "f1", 40_009, "10.88.0.2:80", "FF");
    const neighbour = port("svc-t-x-cccccccccccc", "n1", 40_010, "10.3.0.2:80", "CC");
    const made = rules([...BASE, ...FIRST, ...SECOND, ...foreign, ...neighbour]);
    await made.rules.sweep(async () => new Set(["a2"]));
    expect(made.steps.sort()).toEqual(deleted(FIRST));
  });

  it("stay where the engine does not say what exists", async () => {
    const made = rules([...BASE, ...FIRST]);
    const failure = new Error("the engine is away");
    await expect(made.rules.sweep(() => Promise.reject(failure))).rejects.toThrow(failure);
    expect(made.steps).toEqual([]);
  });

  it("leave the rules of a port that another container of the network has now", async () => {
    const again = port(ONE, "a3", 40_001, "10.1.0.2:80", "AA");
    const made = rules([...BASE, ...FIRST, ...again.slice(-1)]);
    await made.rules.sweep(async () => new Set(["a3"]));
    expect(made.steps).toEqual(deleted(FIRST.slice(-1)));
  });

  it("are asked about only where there are any", async () => {
    let asked = 0;
    await rules(BASE).rules.sweep(async () => {
      asked++;
      return new Set();
    });
    expect(asked).toBe(0);
  });

  it("are found among very many without much work", async () => {
    const many = Array.from({ length: 3_000 }, (_, at) => port(ONE, `a${at}`, 20_000 + at, "10.1.0.2:80", "AA")).flat();
    const foreign = Array.from(
      { length: 30_000 },
      (_, at) => `-A KUBE-SEP-${at} -p tcp -j DNAT --to-destination 10.9.0.2:${at}`,
    );
    const made = rules([...BASE, ...many, ...foreign]);
    const before = process.cpuUsage();
    await made.rules.sweep(async () => new Set(["a7"]));
    expect(made.steps.length).toBe(many.length - 3);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(4);
  });

  it("are no obstacle to the next sweep", async () => {
    await rules([...BASE, ...FIRST], { fails: true }).rules.sweep(async () => new Set());
  });
});

describe("ports of a container that was started", () => {
  it("are taken from one that is gone, whose rule is in front", async () => {
    const made = rules([...BASE, ...FIRST, ...OTHER]);
    await made.rules.claim(started("b1", "10.2.0.2", 40_001), isGone);
    expect(made.steps.sort()).toEqual(deleted(FIRST));
  });

  it("are refused where another one that runs has them, or one that is not ours", async () => {
    const made = rules([...BASE, ...FIRST, ...OTHER]);
    const claim = (each: typeof made, is: typeof runs) => each.rules.claim(started("b1", "10.2.0.2", 40_001), is);
    await expect(claim(made, runs)).rejects.toThrow("port 40001 of the host leads to another container");
    const foreign = rules([...BASE, ...port("podman", "f1", 40_001, "10.88.0.2:80", "FF"), ...OTHER]);
    await expect(claim(foreign, isGone)).rejects.toThrow(/leads to another container/);
    expect([...made.steps, ...foreign.steps]).toEqual([]);
  });

  it("are refused where the rule in front cannot be removed", async () => {
    const made = rules([...BASE, ...FIRST, ...OTHER], { fails: true });
    await expect(made.rules.claim(started("b1", "10.2.0.2", 40_001), isGone)).rejects.toThrow("busy");
  });

  it("no longer lead to the address that it had before", async () => {
    const before = port(ONE, "a1", 40_001, "10.1.0.9:80", "AA");
    const made = rules([...BASE, ...before.slice(0, 2), ...FIRST]);
    await made.rules.claim(started("a1", "10.1.0.2", 40_001), runs);
    expect(made.steps).toEqual(deleted([before[1] ?? ""]));
    const right = rules([...BASE, ...FIRST, ...SECOND]);
    await right.rules.claim(started("a1", "10.1.0.2", 40_001), runs);
    expect(right.steps).toEqual([]);
  });
});

describe("chains that the engine left", () => {
  it("go with the network that they are named after", async () => {
    const jump = `-A POSTROUTING -s 10.1.0.0/24 -j NETAVARK-${HASH}`;
    const lines = [
      ...BASE,
      `-N NETAVARK-${HASH}`,
      `-N NETAVARK-DN-${HASH}`,
      jump,
      ...port(ONE, "a1", 1, "10.1.0.2:1", HASH),
    ];
    const made = rules(lines);
    await made.rules.forget(ONE);
    const chains = [`NETAVARK-${HASH}`, `NETAVARK-DN-${HASH}`];
    const [entry = ""] = port(ONE, "a1", 1, "10.1.0.2:1", HASH).slice(-1);
    expect(made.steps).toEqual([
      ...[jump, entry].map((line) => line.replace("-A", "-D")),
      ...chains.map((chain) => `-F ${chain}`),
      ...chains.map((chain) => `-X ${chain}`),
    ]);
    const none = rules(BASE);
    await none.rules.forget(ONE);
    expect(none.steps).toEqual([]);
  });
});
