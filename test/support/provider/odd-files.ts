import type { Rng } from "../rng.ts";
import { YAML_PIECES } from "../yaml-pieces.ts";

/** Deliberately odd deployment files: at limits, past them, and with traps for parsers. */

const TEXTS = [
  ...["", " ", "a", "web", "WEB", "-a", "a-", "a.b", "_", "*", "true", "null", "~", "0", "-1", "1e9", "0x10", ".inf"],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "../../etc/passwd",
    "a/b",
    "a\u0000b",
    "\u001b]52;c;x\u0007",
    "\u202eabc",
  ],
  ...["$(reboot)", "`id`", "'; rm -rf /", "$HOME", "%s%n", "ä", "😀", "a".repeat(63), "a".repeat(64), "a".repeat(4096)],
];
const AMOUNTS = [
  ...[
    0,
    -1,
    1,
    0.001,
    0.0001,
    1.005,
    10,
    384,
    385,
    1e21,
    "1",
    "100m",
    "1m",
    "-5m",
    "1e3",
    "1Ki",
    "1Mi",
    "5Mi",
    "6Mi",
    "64Mi",
  ],
  ...["512Mi", "1Gi", "2Ti", "32Ti", "1Pi", "16Ei", "9999999Ei", "1.5Gi", "1gb", "0", "", null, true, [], {}],
];
const PORTS = [80, 443, 0, -1, 1, 65_535, 65_536, 8080, "80", "80-90", 1.5, null, 5432];
const COUNTS = [1, 1, 1, 2, 3, 0, -1, 50, 51, 1_000_000, 1.5, "2", null];
const HOSTS = ["shop.example.com", "apps.example.com", "x.apps.example.com", "victim.example.org"];
const CLASSES = ["default", "beta1", "beta2", "beta3", "ram", "none", ""];
const IMAGES = [
  "nginx",
  "registry.example.com/web:1",
  "localhost/x:1",
  "a@sha256:0",
  "UPPER/x",
  `x:${"t".repeat(129)}`,
  "-v",
  "",
];

type Tree = Record<string, unknown>;

/** Share of the places that hold something odd: a file has some fifty. */
const ODD = 0.012;

/** Text of a file that is mostly right: a few of its places hold something odd. JSON is YAML. */
export function oddFile(rng: Rng): string {
  const one = <T>(list: readonly T[]): T => list[rng.below(list.length)] as T;
  const maybe = (share: number, tree: () => Tree): Tree => (rng.next() < share ? tree() : {});
  const some = <T>(most: number, make: () => T): T[] => Array.from({ length: rng.below(most + 1) }, make);
  /** Nearly always the usual value. */
  const odd = <T>(usual: T, unusual: readonly unknown[]): unknown => (rng.next() < ODD ? one(unusual) : usual);
  const names = Array.from({ length: 1 + rng.below(4) }, (_, i) => String(odd(`s${i}`, TEXTS)));
  const groups = Array.from({ length: 1 + rng.below(3) }, (_, i) => String(odd(`g${i}`, TEXTS)));
  const isLeased = rng.next() < 0.05;
  const hasData = rng.next() < 0.4;

  const expose = (): Tree => ({
    port: odd(80, PORTS),
    ...maybe(0.5, () => ({ as: odd(one([80, 443, 8080, 9000 + rng.below(50)]), PORTS) })),
    ...maybe(0.2, () => ({ proto: odd(one(["tcp", "udp", "TCP"]), TEXTS) })),
    ...maybe(0.15, () => ({ accept: some(3, () => odd(one(HOSTS), [...TEXTS, "*.example.com", "EXAMPLE.com"])) })),
    ...maybe(0.1, () => ({
      http_options: {
        max_body_size: odd(1, AMOUNTS),
        read_timeout: odd(1000, AMOUNTS),
        next_cases: some(3, () => odd(one(["error", "500"]), ["off", "x"])),
      },
    })),
    to: some(2, () =>
      one<Tree>([{ global: true }, { service: one(names) }, { global: true, ...(isLeased ? { ip: "mine" } : {}) }]),
    ),
  });
  const service = (): Tree => ({
    image: odd("registry.example.com/web:1", IMAGES),
    ...maybe(0.3, () => ({ env: some(4, () => odd(`A${rng.below(9)}=b`, TEXTS)) })),
    ...maybe(0.3, () => ({ command: some(3, () => odd("sh", TEXTS)), args: some(3, () => odd("-c", TEXTS)) })),
    ...maybe(0.1, () => ({
      credentials: { host: "registry.example.com", username: odd("u", TEXTS), password: odd("secret1", TEXTS) },
    })),
    ...maybe(hasData ? 1 : 0, () => ({
      params: { storage: { data: { mount: odd("/data", ["/", "data", "/a:/b", "/proc", "/etc/hosts", ""]) } } },
    })),
    expose: [{ port: 80, as: 80, to: [{ global: true }] }, ...some(2, expose)],
  });
  const volume = (name: string, isKept: boolean): Tree => ({
    name,
    size: odd("64Mi", AMOUNTS),
    ...maybe(isKept ? 0.7 : 0, () => ({
      attributes: one<Tree>([{ class: "ram" }, { persistent: true, class: odd("beta2", CLASSES) }]),
    })),
  });
  const compute = (): Tree => ({
    cpu: { units: odd(0.1, AMOUNTS) },
    memory: { size: odd("64Mi", AMOUNTS) },
    storage: hasData
      ? [
          volume("default", false),
          volume("data", true),
          ...some(2, () => volume(String(odd(`more${rng.below(99)}`, TEXTS)), false)),
        ]
      : { size: odd("64Mi", AMOUNTS) },
    ...maybe(0.1, () => ({
      gpu: {
        units: odd(1, AMOUNTS),
        attributes: { vendor: { nvidia: some(2, () => ({ model: odd("a100", TEXTS) })) } },
      },
    })),
  });
  const pricing = () =>
    Object.fromEntries(
      names.map((name) => [
        name,
        {
          denom: odd("utoken", TEXTS),
          amount: odd(1000, [...AMOUNTS, "0.000000000000000001", 10_000_000, 10_000_001]),
        },
      ]),
    );
  const file = {
    version: odd("2.0", ["2.1", "3.0", 2, null]),
    services: Object.fromEntries(names.map((name) => [name, service()])),
    ...(isLeased ? { endpoints: { mine: { kind: "ip" } } } : {}),
    profiles: {
      compute: Object.fromEntries(names.map((name) => [name, { resources: compute() }])),
      placement: Object.fromEntries(
        groups.map((name) => [
          name,
          {
            ...maybe(0.2, () => ({ attributes: { [String(odd("region", TEXTS))]: odd("eu", TEXTS) } })),
            pricing: pricing(),
          },
        ]),
      ),
    },
    deployment: Object.fromEntries(
      names.map((name) => [
        name,
        Object.fromEntries([
          [odd(one(groups), TEXTS) as string, { profile: name, count: odd(one([1, 1, 2]), COUNTS) }],
        ]),
      ]),
    ),
  };
  return JSON.stringify(file);
}

/** A text with a few of its characters replaced. */
export function edited(text: string, rng: Rng): string {
  let changed = text;
  for (let i = rng.below(3); i >= 0; i--) {
    const at = rng.below(changed.length + 1);
    const insert = YAML_PIECES[rng.below(YAML_PIECES.length)] ?? "";
    changed = changed.slice(0, at) + insert + changed.slice(at + rng.below(8));
  }
  return changed;
}
