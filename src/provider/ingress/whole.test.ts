import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, it } from "vitest";
import { HOSTS, IngressBed, ingressCases, SIZES, type TestedIngress } from "../../../test/support/ingress/suite.ts";
import { DEFAULT_HTTP_OPTIONS } from "../../sdl/index.ts";
import { readFileText } from "../../util/index.ts";
import { AUTHORITY, openAuthority } from "../certificates/index.ts";
import { Ingress } from "./index.ts";

/** The features of HTTP pass the built-in ingress; `test/interop/traefik.test.ts` sends the same through Traefik. */

let folder: string;
let ingress: Ingress;
let tested: TestedIngress;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-whole-"));
  const authority = await openAuthority(folder);
  for (const host of Object.values(HOSTS)) {
    const { chain, key } = await authority.issue(host, new AbortController().signal);
    writeFileSync(join(folder, `${host}.pem`), chain + key, { mode: 0o600 });
  }
  const backends = new Map<string, readonly string[]>();
  const host = "127.0.0.1";
  ingress = new Ingress({
    backends: (_id, service) => backends.get(service) ?? [],
    host,
    port: 0,
    tls: { host, port: 0, folders: [folder], redirect: false },
  });
  const port = await ingress.listen();
  const lease = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
  tested = {
    port,
    tlsPort: ingress.tlsPort,
    pid: process.pid,
    ca: readFileText(join(folder, AUTHORITY.certificate), { maxBytes: 10_000 }),
    route: async (name, replicas, options) => {
      backends.set(name, replicas);
      ingress.routes.set(name, { lease, service: name, port: 80, options: { ...DEFAULT_HTTP_OPTIONS, ...options } });
    },
  };
});
afterAll(async () => {
  await ingress.close();
  rmSync(folder, { recursive: true });
});

it.each(ingressCases)("$name", async ({ run }) => {
  const bed = new IngressBed(tested, SIZES);
  await run(bed).finally(() => bed.close());
});
