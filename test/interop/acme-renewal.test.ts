import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { freePorts, waitFor, webFile } from "../support/index.ts";
import { TestNameServer } from "../support/provider/dns.ts";
import { type AcmeServer, acmeAuthority, startAcmeServer } from "./acme-server.ts";
import { buildPeer, Peer } from "./peers.ts";

/**
 * A provider whose certificate expires while it runs, and whose ACME server is down when it must be renewed: visitors are
 * served throughout. It takes minutes of real time, because the server's own clock counts: `npm run lab acme`.
 */

const HOST = "shop.example.org";
const PAGE = "over TLS";
/** Renewed after two thirds; the first attempt fails, and the next one comes before it expires. */
const VALIDITY_S = 240;
const WAIT = { timeoutMs: VALIDITY_S * 1000, pollMs: 500 };
const TEST_MS = 4 * VALIDITY_S * 1000;
const built = await buildPeer("pebble");
const peer = built instanceof Peer ? built : undefined;

(peer === undefined ? describeWithEngine.skip : describeWithEngine)(
  "a certificate that ends while the provider runs",
  () => {
    let localnet: TestLocalnet;
    let provider: TestProvider;
    let acme: AcmeServer | undefined;
    let tlsPort = 0;
    let metricsPort = 0;
    let start: () => Promise<AcmeServer | undefined>;

    beforeAll(async () => {
      localnet = await TestLocalnet.start();
      const { fixture, tenant } = localnet;
      const dns = await TestNameServer.start();
      fixture.defer(() => dns.close());
      const { folder } = fixture;
      const authority = await acmeAuthority(folder);
      const [port = 0, tls = 0, metrics = 0] = await freePorts(3);
      [tlsPort, metricsPort] = [tls, metrics];
      provider = await localnet.provider({
        name: "acme",
        flags: [
          ...["--ingress-tls-listen-address", `127.0.0.1:${tls}`, "--metrics-listener", `127.0.0.1:${metrics}`],
          ...[
            "--ingress-acme-directory",
            `https://localhost:${port}/dir`,
            "--deployment-hostname-resolvers",
            dns.address,
          ],
        ],
        env: { NODE_EXTRA_CA_CERTS: authority },
      });
      start = async () =>
        peer && startAcmeServer({ peer, folder, httpPort: provider.ingressPort, port, validitySeconds: VALIDITY_S });
      acme = await start();
      dns.records.set(`TXT _svc-challenge.${HOST}`, [tenant.key.address]);
      const file = webFile({ page: PAGE }).replace("as: 80\n", `as: 80\n        accept: [${HOST}]\n`);
      const ordered = await tenant.order(file);
      await tenant.awaitBids(ordered.id);
      const lease = await tenant.lease(ordered.order, provider.address);
      await (await tenant.gateway(provider.address)).sendManifest(ordered.id.dseq, ordered.sdl.manifest);
      await tenant.awaitReady(lease);
    });
    afterAll(async () => {
      acme?.close();
      peer?.remove();
      await localnet?.close();
    });

    /** A new connection to the host name. */
    async function connected(): Promise<TLSSocket> {
      const socket = connectTls({ host: "127.0.0.1", port: tlsPort, servername: HOST, rejectUnauthorized: false });
      await once(socket, "secureConnect");
      return socket;
    }

    /** The page over a connection that stays open, and the certificate that it was opened with. */
    async function ask(socket: TLSSocket): Promise<string> {
      let text = "";
      const take = (piece: Buffer): void => {
        text += piece.toString();
      };
      socket.on("data", take);
      socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
      await waitFor(async () => text.includes(PAGE), "the page", { timeoutMs: 20_000, pollMs: 20 });
      socket.off("data", take);
      return text.slice(0, text.indexOf("\r\n"));
    }

    async function shown(): Promise<X509Certificate | undefined> {
      const socket = await connected().catch(() => undefined);
      const certificate = socket?.getPeerX509Certificate();
      socket?.destroy();
      return certificate?.checkHost(HOST) === undefined ? undefined : certificate;
    }

    async function failing(): Promise<number> {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return Number(/^provider_host_certificates\{state="failing"\} (\d+)/m.exec(text)?.[1]);
    }

    it(
      "is renewed, and visitors are served all the time, also while the ACME server is away",
      async () => {
        const first = await waitFor(shown, "a certificate", WAIT);
        const kept = await connected();
        const visits: { readonly status: string; readonly serial: string; readonly isValid: boolean }[] = [];
        let isOver = false;
        const visiting = (async () => {
          while (!isOver) {
            const socket = await connected();
            const certificate = socket.getPeerX509Certificate();
            const isValid = Date.parse(certificate?.validTo ?? "") >= Date.now();
            visits.push({ status: await ask(socket), serial: certificate?.serialNumber ?? "", isValid });
            socket.destroy();
            expect(await ask(kept)).toBe("HTTP/1.1 200 OK");
            await pause(500);
          }
        })();
        expect(await failing()).toBe(0);
        acme?.close();
        await waitFor(async () => (await failing()) === 1, "the failure to be counted", WAIT);
        expect(provider.process.output).toContain("no certificate for a host name, trying again");
        expect((await shown())?.serialNumber).toBe(first.serialNumber);
        acme = await start();
        const next = await waitFor(
          async () => {
            const now = await shown();
            return now === undefined || now.serialNumber === first.serialNumber ? undefined : now;
          },
          "another certificate",
          WAIT,
        );
        expect(Date.parse(next.validTo)).toBeGreaterThan(Date.parse(first.validTo));
        await waitFor(async () => (await failing()) === 0, "the failure to be over", WAIT);
        await pause(2_000);
        isOver = true;
        await visiting;
        kept.destroy();
        expect(visits.filter(({ status, isValid }) => status !== "HTTP/1.1 200 OK" || !isValid)).toEqual([]);
        expect([...new Set(visits.map(({ serial }) => serial))]).toEqual([first.serialNumber, next.serialNumber]);
      },
      TEST_MS,
    );
  },
);
