import { execFile } from "node:child_process";
import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LeaseKey } from "../../src/wire/index.ts";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { freePorts, waitFor, webFile } from "../support/index.ts";
import { TestNameServer } from "../support/provider/dns.ts";
import { atNight } from "../support/runs.ts";
import { type AcmeServer, acmeAuthority, startAcmeServer } from "./acme-server.ts";
import { buildPeer, Peer } from "./peers.ts";

/** A whole provider, from a tenant's file to a page over TLS, with certificates of an ACME server and host names proven by the DNS. */

const HOST = "shop.example.org";
const PAGE = "over TLS";
const VALIDITY_S = 20;
const built = await buildPeer("pebble");
const peer = built instanceof Peer ? built : undefined;

if (peer === undefined && process.env.CI === "true") throw new Error(`no ACME server: ${JSON.stringify(built)}`);

(peer === undefined ? describeWithEngine.skip : describeWithEngine)("a provider with certificates by ACME", () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;
  let acme: AcmeServer | undefined;
  let dns: TestNameServer;
  let tlsPort = 0;
  let lease: LeaseKey;

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    const { fixture } = localnet;
    dns = await TestNameServer.start();
    fixture.defer(() => dns.close());
    const folder = fixture.folder;
    const authority = await acmeAuthority(folder);
    const [port = 0, tls = 0] = await freePorts(2);
    tlsPort = tls;
    provider = await localnet.provider({
      name: "acme",
      flags: [
        ...[
          "--ingress-tls-listen-address",
          `127.0.0.1:${tls}`,
          "--ingress-acme-directory",
          `https://localhost:${port}/dir`,
        ],
        ...["--deployment-hostname-resolvers", dns.address],
      ],
      env: { NODE_EXTRA_CA_CERTS: authority },
    });
    if (peer === undefined) return;
    const { ingressPort: httpPort } = provider;
    acme = await startAcmeServer({ peer, folder, httpPort, port, validitySeconds: VALIDITY_S });
  });
  afterAll(async () => {
    acme?.close();
    peer?.remove();
    await localnet?.close();
  });

  /** The certificate that the ingress shows for the name now. */
  async function shown(): Promise<X509Certificate | undefined> {
    const socket = connectTls({ host: "127.0.0.1", port: tlsPort, servername: HOST, rejectUnauthorized: false });
    try {
      await once(socket, "secureConnect");
      const certificate = socket.getPeerX509Certificate();
      return certificate?.checkHost(HOST) === undefined ? undefined : certificate;
    } catch {
      return undefined;
    } finally {
      socket.destroy();
    }
  }

  async function page(): Promise<string> {
    const ca = await acme?.roots();
    const options = {
      host: "127.0.0.1",
      port: tlsPort,
      servername: HOST,
      headers: { host: HOST },
      agent: false,
      ca: ca ?? "",
    };
    const [answer] = await once(get(options), "response");
    let text = "";
    for await (const piece of answer) text += String(piece);
    return `${answer.statusCode} ${text.trim()}`;
  }

  it("takes the manifest once the DNS names the tenant, and then has a certificate", async () => {
    const { tenant } = localnet;
    const file = webFile({ page: PAGE }).replace("as: 80\n", `as: 80\n        accept: [${HOST}]\n`);
    const ordered = await tenant.order(file);
    await tenant.awaitBids(ordered.id);
    lease = await tenant.lease(ordered.order, provider.address);
    const gateway = await tenant.gateway(provider.address);
    const unproven = { reason: "hostname_unproven" };
    await waitFor(
      () =>
        gateway.sendManifest(ordered.id.dseq, ordered.sdl.manifest).then(
          () => {
            throw new Error("a name without proof was served");
          },
          (error: unknown) =>
            (error instanceof Error && "reason" in error && error.reason === unproven.reason) || undefined,
        ),
      "the manifest to be refused",
    );
    dns.records.set(`TXT _svc-challenge.${HOST}`, [tenant.key.address]);
    await gateway.sendManifest(ordered.id.dseq, ordered.sdl.manifest);
    await tenant.awaitReady(lease);
    await waitFor(shown, "a certificate for the host name");
    expect(await page()).toBe(`200 ${PAGE}`);
    const { urls } = (await tenant.status(lease)).services.web ?? {};
    expect(urls).toContain(`https://${HOST}:${tlsPort}/`);
  });

  it("is believed by curl, and speaks HTTP/2", async () => {
    const ca = join(localnet.fixture.folder, "roots.pem");
    writeFileSync(ca, (await acme?.roots()) ?? "");
    const { stdout } = await promisify(execFile)("curl", [
      ...["--silent", "--show-error", "--http2", "--cacert", ca, "--resolve", `${HOST}:${tlsPort}:127.0.0.1`],
      ...["--write-out", " %{http_version} %{http_code}", `https://${HOST}:${tlsPort}/`],
    ]);
    expect(stdout.replace("\n", "")).toBe(`${PAGE} 2 200`);
    const session = connectHttp2(`https://${HOST}:${tlsPort}`, {
      ...{ host: "127.0.0.1", servername: HOST, ca: (await acme?.roots()) ?? "" },
      createConnection: () =>
        connectTls({
          host: "127.0.0.1",
          port: tlsPort,
          servername: HOST,
          ALPNProtocols: ["h2"],
          rejectUnauthorized: false,
        }),
    });
    const [headers] = await once(session.request({ ":path": "/" }).resume(), "response");
    expect(headers[":status"]).toBe(200);
    session.close();
  });

  atNight(() =>
    it("renews a certificate that has a third of its time left, and goes on meanwhile", async () => {
      const before = await waitFor(shown, "a certificate");
      await waitFor(
        async () => Date.parse(before.validTo) - Date.now() < (VALIDITY_S * 1000) / 3,
        "two thirds of its time",
      );
      await provider.process.stop();
      await provider.start();
      const after = await waitFor(async () => {
        const now = await shown();
        return now === undefined || now.serialNumber === before.serialNumber ? undefined : now;
      }, "another certificate");
      expect(Date.parse(after.validTo)).toBeGreaterThan(Date.parse(before.validTo));
      expect(await page()).toBe(`200 ${PAGE}`);
    }),
  );
});
