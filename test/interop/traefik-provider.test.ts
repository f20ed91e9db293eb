import { readFileSync } from "node:fs";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUTHORITY } from "../../src/provider/certificates/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { describeWithEngine, type Ordered, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { freePorts, waitFor, webFile } from "../support/index.ts";
import { printed, startTraefik, type TestTraefik } from "../support/ingress/traefik.ts";
import { buildPeer, Peer } from "./peers.ts";

/** `docs/operations/traefik.md` from its first line to the last, as printed but for ports and folders. */

const peer = await buildPeer("traefik");

const describeHere = peer instanceof Peer ? describeWithEngine : describe.skip;

describeHere("a provider whose HTTP a Traefik carries", () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;
  let traefik: TestTraefik;
  let ordered: Ordered;
  let lease: LeaseKey;
  let host = "";
  let authority = "";

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    const [port = 0, tlsPort = 0] = await freePorts(2);
    const path = join(localnet.fixture.folder, "ingress", "routes.yaml");
    authority = join(localnet.fixture.folder, "authority");
    const words = printed("sh").replaceAll("\\\n", " ").trim().split(/\s+/);
    expect(words.splice(0, 3)).toEqual(["svc", "provider", "run"]);
    const own = words.map((word) => word.replace(/^.*\.yaml$/, path).replace("0.0.0.0:80", `127.0.0.1:${port}`));
    const tls = ["--ingress-tls-listen-address", `127.0.0.1:${tlsPort}`, "--ingress-tls-authority", authority];
    const flags = [...own, ...tls, "--ingress-loopback-ports=false"];
    provider = await localnet.provider({ name: "provider", flags });
    if (peer instanceof Peer) traefik = await startTraefik(peer, path, { port, tlsPort });
  });
  afterAll(async () => {
    await traefik?.close();
    if (peer instanceof Peer) peer.remove();
    await localnet?.close();
  });

  it("bids once its own container answers through Traefik, and shows tenants an address that answers, over TLS too", async () => {
    const { tenant } = localnet;
    ordered = await tenant.order(webFile({ page: "carried" }));
    await tenant.awaitBids(ordered.id);
    lease = await tenant.lease(ordered.order, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    const url = await waitFor(async () => {
      const [service] = Object.values((await tenant.status(lease)).services);
      return service?.available === 1 ? service.urls?.[0] : undefined;
    }, "the service to be ready");
    const { hostname, port, protocol } = new URL(url);
    host = hostname;
    expect([`${protocol}//`, Number(port)]).toEqual(["https://", traefik.tlsPort]);
    await waitFor(async () => (await page()) === "200 carried\n", "the page");
    expect(await page({ isSecure: true })).toBe("200 carried\n");
  });

  it("goes on while the daemon is away, and when it is back", async () => {
    await provider.process.kill();
    expect(await page()).toBe("200 carried\n");
    await provider.start();
    expect(await page()).toBe("200 carried\n");
  });

  it("ends with the deployment", async () => {
    await localnet.tenant.close(ordered.id);
    await waitFor(async () => (await page()).startsWith("404 "), "the host name to be gone");
  });

  function page({ isSecure = false } = {}): Promise<string> {
    const options = { host: "127.0.0.1", headers: { host }, agent: false };
    return new Promise((resolve, reject) => {
      const ca = isSecure ? readFileSync(join(authority, AUTHORITY.certificate)) : "";
      const asked = isSecure
        ? requestTls({ ...options, port: traefik.tlsPort, servername: host, ca })
        : request({ ...options, port: traefik.port });
      asked.once("error", reject).once("response", async (answer) => {
        let text = `${answer.statusCode} `;
        for await (const piece of answer) text += piece;
        resolve(text);
      });
      asked.end();
    });
  }
});
