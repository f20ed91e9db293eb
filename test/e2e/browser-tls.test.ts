import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeToken, marketReader, type TokenPurpose, webGateway } from "../../src/client/index.ts";
import { AUTHORITY } from "../../src/provider/certificates/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { describeWithCertificates, openPage, startBrowser } from "../support/chromium.ts";
import { TestLocalnet } from "../support/containers.ts";
import { freePorts, webFile } from "../support/index.ts";

/** A stock browser that trusts the authority of a localnet, at a tenant's host name and at the provider's gateway. */

const HOST = "shop.example.org";
const PAGE = "in a browser";

interface Question {
  readonly url: string;
  readonly token: string;
}

/** In the page: `open`, or the code with which the socket was closed. */
function openSocket({ url, token }: Question): Promise<string | number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, ["svc.gateway.v1", `svc.bearer.${token}`]);
    socket.onopen = () => resolve("open");
    socket.onclose = ({ code }) => resolve(code);
  });
}

/** In the page: the status of the answer, or the error's words. */
async function askStatus({ url, token }: Question): Promise<string | number> {
  try {
    return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
  } catch (error) {
    return String(error);
  }
}

describeWithCertificates("a browser that trusts the authority of the provider", () => {
  let localnet: TestLocalnet;
  let folder: string;
  let tlsPort = 0;
  let lease: LeaseKey;
  let trusting: Browser;

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    const { fixture, tenant } = localnet;
    folder = join(fixture.folder, "authority");
    const [tls = 0] = await freePorts(1);
    tlsPort = tls;
    const provider = await localnet.provider({
      name: "browser",
      attributes: { "web-gateway": `https://gateway.localhost:${tls}` },
      flags: [
        ...["--ingress-tls-listen-address", `127.0.0.1:${tls}`, "--ingress-tls-authority", folder],
        ...["--deployment-hostname-proof", "first-come"],
      ],
    });
    const file = webFile({ page: PAGE }).replace("as: 80\n", `as: 80\n        accept: [${HOST}]\n`);
    const ordered = await tenant.order(file);
    await tenant.awaitBids(ordered.id);
    lease = await tenant.lease(ordered.order, provider.address);
    await (await tenant.gateway(provider.address)).sendManifest(ordered.id.dseq, ordered.sdl.manifest);
    await tenant.awaitReady(lease);
    trusting = await browser([join(folder, AUTHORITY.certificate)]);
  });
  afterAll(() => localnet?.close());

  /** A browser with its own home that trusts only the given authorities of its own. */
  async function browser(authorities: readonly string[]): Promise<Browser> {
    const home = localnet.fixture.tempHome();
    const store = join(home, ".pki", "nssdb");
    mkdirSync(store, { recursive: true });
    const certutil = (...args: string[]) => promisify(execFile)("certutil", ["-d", `sql:${store}`, ...args]);
    await certutil("-N", "--empty-password");
    for (const path of authorities) await certutil("-A", "-t", "C,,", "-n", path, "-i", path);
    const flags = [`--host-resolver-rules=MAP ${HOST} 127.0.0.1`];
    const started = await startBrowser({ flags, env: { ...process.env, HOME: home }, isWhole: true });
    localnet.fixture.defer(() => started.close());
    return started;
  }

  it("opens the page over TLS and HTTP/2", async () => {
    const page = await trusting.newPage();
    const response = await openPage(page, `https://${HOST}:${tlsPort}/`);
    expect(response?.status()).toBe(200);
    expect(await page.textContent("body")).toContain(PAGE);
    expect((await response?.securityDetails())?.subjectName ?? "").toBe("");
    expect(await response?.securityDetails()).toMatchObject({ issuer: "svc local authority" });
    // This process's type of performance entries lacks navigation.
    const protocol = await page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol");
    expect(protocol).toBe("h2");
  });

  /** A page of another origin. */
  async function foreignPage(): Promise<Page> {
    const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>console"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    localnet.fixture.defer(() => server.close());
    const page = await trusting.newPage();
    await openPage(page, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return page;
  }

  function token(scope: TokenPurpose["scope"]): Promise<string> {
    const { key } = localnet.tenant;
    const signer = { kind: "token" as const, account: key.address, sign: (bytes: Uint8Array) => key.sign(bytes) };
    return makeToken(signer, { ...lease, scope }, Date.now());
  }

  it("follows logs from a page whose first request is the websocket", async () => {
    const { client } = localnet.tenant;
    const record = await marketReader(client.query).provider(lease.provider);
    const origin = record === undefined ? undefined : webGateway(record);
    expect(origin).toBe(`https://gateway.localhost:${tlsPort}`);
    const path = `/lease/${lease.dseq}/${lease.gseq}/${lease.oseq}`;
    const page = await foreignPage();
    const url = `${origin?.replace("https", "wss")}${path}/logs?follow=true`;
    const bearer = await token("logs");
    // The networks of other tests may break a try.
    const hear = () => page.evaluate(openSocket, { url, token: bearer });
    await expect.poll(hear).toBe("open");
    const question = { url: `${origin}${path}/status`, token: await token("status") };
    await expect.poll(() => page.evaluate(askStatus, question)).toBe(200);
  });

  it("refuses it without the authority among those it trusts", async () => {
    const page = await (await browser([])).newPage();
    await expect(openPage(page, `https://${HOST}:${tlsPort}/`)).rejects.toThrow("ERR_CERT_AUTHORITY_INVALID");
  });
});
