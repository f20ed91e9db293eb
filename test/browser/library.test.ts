import { cpSync, existsSync, readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NodeApi, RpcClient } from "../../src/client/index.ts";
import { type TestNode, testNode } from "../../src/testing/index.ts";
import { describeWithBrowser, openPage, startBrowser } from "../support/chromium.ts";
import { relayed, relaySockets } from "../support/gateway-relay.ts";
import { Fixture, ROOT } from "../support/index.ts";
import { linkedProject, packPackage } from "../support/package.ts";
import { quietConfig, TestDaemon, testMarketplace } from "../support/provider/daemon.ts";
import { sampleFile } from "../support/provider/deployment.ts";
import vectors from "../vectors/keys.json" with { type: "json" };
import type * as PageLibrary from "./page/library.ts";

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

/** Bundles the page with the packed package, as an application does; the folder of the result. */
async function buildPage(fixture: Fixture): Promise<string> {
  const project = await linkedProject(fixture, await packPackage(fixture.folder));
  for (const path of ["test/browser/page", "docs/examples"]) {
    cpSync(join(ROOT, path), join(project, path), { recursive: true });
  }
  const outDir = join(project, "built");
  await build({ root: join(project, "test/browser/page"), logLevel: "error", configFile: false, build: { outDir } });
  return outDir;
}

/** Answers of a hostile gateway, by the words in its address. */
const HOSTILE: Readonly<Record<string, (response: ServerResponse) => void>> = {
  silent: () => {},
  page: (response) => response.setHeader("content-type", "text/html").end("<!doctype html><p>Welcome</p>"),
  huge: (response) => {
    const more = (): void => void (response.destroyed || response.write("1".repeat(1 << 20), more));
    response.write("[");
    more();
  },
  numbers: (response) => response.end('{"memory":9007199254740993}'),
  elsewhere: (response) => response.writeHead(302, { location: "/" }).end(),
};

/** Serves files below a folder over plain HTTP, as pages of a local network are; relays to a gateway. */
async function serve(folder: string, gateway: () => number): Promise<Server> {
  const server = createServer((request, response) => {
    const hostile = HOSTILE[/^\/hostile\/(\w+)/.exec(request.url ?? "")?.[1] ?? ""];
    if (hostile !== undefined) return hostile(response);
    if (relayed(request, response, gateway())) return;
    const path = new URL(request.url ?? "/", "http://x").pathname;
    const name = path === "/" ? "/index.html" : path;
    if (!existsSync(join(folder, name))) response.statusCode = 404;
    if (response.statusCode === 404) return response.end();
    response.setHeader("content-type", TYPES[extname(name)] ?? "application/octet-stream");
    return response.end(readFileSync(join(folder, name)));
  });
  relaySockets(server, gateway);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** The daemon of a provider on the memory cluster, with `alice`'s key; `bob` is the tenant. */
async function startProvider(fixture: Fixture, node: TestNode): Promise<TestDaemon> {
  const config = quietConfig(fixture.tempHome("provider"));
  const market = await testMarketplace(node);
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 40_000, last: 40_001 } });
  fixture.defer(() => daemon.stop());
  await daemon.start();
  return daemon;
}

describeWithBrowser("the library in a browser", () => {
  const fixture = new Fixture();
  let browser: Browser;
  let page: Page;
  let node: TestNode;
  let daemon: TestDaemon;
  /** Number of the deployment that the page has made. */
  let dseq: string;
  let origin: string;
  const [key] = vectors.keys;
  if (key === undefined) throw new Error("there are no recorded keys");

  beforeAll(async () => {
    const server = await serve(await buildPage(fixture), () => Number(daemon.logged("provider started")?.gateway));
    fixture.defer(() => server.close().closeAllConnections());
    // To the browser this is a page of a foreign host over plain HTTP, where it withholds much.
    origin = `http://app.test:${(server.address() as AddressInfo).port}`;
    node = await testNode({ corsOrigins: [origin], blockIntervalMs: 300 });
    fixture.defer(() => node.stop());
    daemon = await startProvider(fixture, node);
    browser = await startBrowser({ flags: ["--host-resolver-rules=MAP app.test 127.0.0.1"] });
    fixture.defer(() => browser.close());
    page = await browser.newPage();
    await openPage(page, origin);
    await page.waitForFunction(() => "library" in globalThis);
  });
  afterAll(() => fixture.close());

  it("hashes deployment files as the recorded vectors say", async () => {
    for (const name of ["gpu", "credentials", "http-options"]) {
      const read = (ending: string): string =>
        readFileSync(join(ROOT, "test/vectors/sdl", `${name}.${ending}`), "utf8");
      const hash = await page.evaluate((text) => library.example.hashOf(text), read("yaml"));
      expect(hash).toBe(read("sha256").trim());
    }
  });

  it("needs nothing that pages have on secure connections alone", async () => {
    expect(await page.evaluate("[isSecureContext, typeof crypto.subtle]")).toEqual([false, "undefined"]);
  });

  it("reports every fault of a file", async () => {
    const faults = await page.evaluate(() => {
      try {
        library.sdl.loadSdl("version: '2.0'\nservices: 5\n");
        return [];
      } catch (error) {
        return error instanceof library.sdl.SdlError ? error.issues.map(({ line }) => line) : [String(error)];
      }
    });
    expect(faults).toContain(2);
  });

  it("makes the recorded key and address of a phrase", async () => {
    const made = await page.evaluate(async (words) => {
      const { derivePrivateKey, mnemonicToSeed } = library.crypto;
      const privateKey = await derivePrivateKey(await mnemonicToSeed(words), library.crypto.DEFAULT_HD_PATH);
      const { address } = library.svc.privateKeySigner(privateKey, "cosmos");
      return { address, privateKey: library.wire.toHex(privateKey) };
    }, key.mnemonic);
    expect(made).toEqual({ address: key.address, privateKey: key.privateKey });
  });

  it("makes phrases, armor and tokens", async () => {
    const made = await page.evaluate(async () => {
      const { crypto, svc } = library;
      const words = await crypto.generateMnemonic();
      const signer = await svc.mnemonicSigner(words);
      const privateKey = await crypto.derivePrivateKey(await crypto.mnemonicToSeed(words), crypto.DEFAULT_HD_PATH);
      const opened = await crypto.decryptKeyArmor(
        await crypto.encryptKeyArmor(privateKey, "a passphrase"),
        "a passphrase",
      );
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        version: "v1",
        iss: signer.address,
        aud: "svc1provider",
        iat: now,
        nbf: now,
        exp: now + 60,
      } as const;
      const leases = { access: "full" } as const;
      const sign = (bytes: Uint8Array): Uint8Array => crypto.signSecp256k1(privateKey, bytes);
      const token = await crypto.signToken({ ...claims, jti: "1", leases }, sign);
      const publicKey = crypto.publicKeyOf(privateKey);
      const read = await crypto.verifyToken(token, { publicKey, issuer: claims.iss, audience: claims.aud, now });
      return {
        words: words.split(" ").length,
        same: String(opened) === String(privateKey),
        issuer: read.iss === claims.iss,
      };
    });
    expect(made).toEqual({ words: 24, same: true, issuer: true });
  });

  it("shows a balance that the node has proven", async () => {
    const rpc = new RpcClient(node.url);
    const { hash } = await new NodeApi(rpc).block(1n);
    rpc.close();
    const { address } = node.key("alice");
    const [amount, height] = await page.evaluate(
      async ({ url, hash, address }) => {
        const root = { height: 1n, hash: library.wire.fromHex(hash) };
        const [found, at] = await library.lightExample.provenBalance(url, root, address);
        return [found, Number(at)] as const;
      },
      { url: node.url, hash, address },
    );
    expect(BigInt(amount)).toBeGreaterThan(0n);
    expect(height).toBeGreaterThan(0);
  });

  it("sends tokens and hears of them over the websocket", async () => {
    const words = await page.evaluate(() => library.crypto.generateMnemonic());
    const sent = await page.evaluate(
      async ({ url, words, privateKey }) => {
        const { svc, wire, example } = library;
        const chain = new svc.ChainClient(url);
        const alice = svc.privateKeySigner(Uint8Array.from(privateKey));
        const { address } = await svc.mnemonicSigner(words);
        const amount = [{ denom: "utoken", amount: "3000000" }];
        const gift = wire.packAny(library.MsgSendSchema, { fromAddress: alice.address, toAddress: address, amount });
        const { code } = await svc.sendTx(chain, alice, [gift], { gas: "auto" });
        const response = await example.pay(url, words, alice.address);
        const { balance } = await chain.query.call(library.Query.method.balance, { address, denom: "utoken" });
        chain.close();
        return { code, paid: response?.code, left: balance?.amount };
      },
      { url: node.url, words, privateKey: [...node.key("alice").privateKey] },
    );
    expect(sent).toEqual({ code: 0, paid: 0, left: "1995000" });
  });

  it("follows events from a block on", async () => {
    const seen = await page.evaluate(async (url) => {
      const chain = new library.svc.ChainClient(url);
      for await (const { type } of library.svc.watchEvents(chain, { from: 1n, type: "transfer" })) {
        chain.close();
        return type;
      }
      return undefined;
    }, node.url);
    expect(seen).toBe("transfer");
  });

  it("takes the text of a file to services that the provider calls ready", async () => {
    const deployed = await page.evaluate(
      ({ privateKey, text, ...page }) =>
        library.deployExample.deployText({ ...page, privateKey: Uint8Array.from(privateKey) }, "web.yaml", text),
      {
        node: node.url,
        relay: `${origin}/relay`,
        text: sampleFile({ job: "echo started; sleep 1000" }),
        privateKey: [...node.key("bob").privateKey],
      },
    );
    ({ dseq } = deployed);
    expect(deployed).toMatchObject({ ready_by: "provider", leases: [{ provider: node.key("alice").address }] });
    expect(deployed.services.map(({ name, available, total }) => [name, available, total])).toEqual([
      ["job", 1, 1],
      ["web", 1, 1],
    ]);
    expect(deployed.steps.map(({ name }) => name)).toEqual([
      "certificate",
      "order",
      "bid",
      "lease",
      "manifest",
      "ready",
    ]);
  });

  it("reads the logs and runs a command of a lease over the provider's websockets", async () => {
    const seen = await page.evaluate(useLease, {
      relay: `${origin}/relay`,
      provider: node.key("alice").address,
      dseq,
      privateKey: [...node.key("bob").privateKey],
    });
    expect(seen).toEqual({ line: "started", output: "hello", exitCode: 0, refused: 404 });
  });

  it("asks a provider for its price, and why it would not bid", async () => {
    const [text, dear] = [sampleFile(), sampleFile().replace('"amount": 1000', '"amount": 0.5')];
    const answers = await page.evaluate(
      async ({ url, texts }) => {
        const client = new library.gateway.GatewayClient({ provider: "svc1p", url });
        const groups = texts.flatMap((each) => library.sdl.loadSdl(each).groups);
        const screened = await Promise.all(groups.map((group) => client.screen(group)));
        const [price] = await Promise.all(groups.map((group) => client.price(group)));
        return [...screened.map((each) => (each.bid ? each.price.amount : each.reason)), price?.amount];
      },
      { url: `${origin}/relay/${node.key("alice").address}`, texts: [text, dear] },
    );
    expect(answers).toEqual([10n ** 18n, expect.stringContaining("is above the order's"), 10n ** 18n]);
  });

  it.each([
    ["silent", /^no answer within 0.5 s: the provider did not answer in time$/],
    ["page", /^it is a web page: unexpected answer from the provider$/],
    ["huge", /^it is larger than 4 MiB: /],
    ["numbers", /^it has a number beyond 2\^53: /],
    ["elsewhere", /^it redirects to another address: /],
  ])("refuses a gateway that is %s", async (kind, sentence) => {
    const told = await page.evaluate(
      (url) =>
        new library.gateway.GatewayClient({ provider: "svc1p", url, timeoutMs: 500 }).version().then(
          () => "answered",
          (error) => String(error.message),
        ),
      `${origin}/hostile/${kind}`,
    );
    expect(told).toMatch(sentence);
  });

  it("says what to do about a node that does not allow the page", async () => {
    const strict = await testNode();
    fixture.defer(() => strict.stop());
    const told = await page.evaluate(
      (url) =>
        new library.svc.ChainClient(url).chainId().then(
          () => undefined,
          (error) => (error instanceof library.svc.SvcError ? error.hint : String(error)),
        ),
      strict.url,
    );
    expect(told).toContain("--rpc.cors-allowed-origins");
  });
});

interface Using {
  readonly relay: string;
  readonly provider: string;
  readonly dseq: string;
  readonly privateKey: readonly number[];
}

/** Runs in the page: uses the lease of the only deployment. */
async function useLease({ relay, provider, dseq, privateKey }: Using) {
  const { svc, crypto, gateway } = library;
  const key = Uint8Array.from(privateKey);
  const { address: owner } = svc.privateKeySigner(key);
  const sign = (bytes: Uint8Array): Uint8Array => crypto.signSecp256k1(key, bytes);
  const credential = { kind: "token", account: owner, sign } as const;
  const client = new gateway.GatewayClient({ provider, url: `${relay}/${provider}`, credential });
  const lease = { owner, dseq: BigInt(dseq), gseq: 1, oseq: 1, provider };
  const { signal } = new AbortController();
  let line = "";
  for await (const { message } of client.logs(lease, { services: ["job"], follow: true, tail: -1, signal })) {
    line = message;
    break;
  }
  const session = await client.shell(lease, { service: "web", replica: 0, command: ["cat"], tty: false, stdin: true });
  session.write(new TextEncoder().encode("hello"));
  session.endInput();
  let output = "";
  for await (const { data } of session.output()) output += new TextDecoder().decode(data);
  const refused = await client.leaseStatus({ ...lease, dseq: 999n }).catch((error) => error.status);
  return { line, output, exitCode: session.result().exitCode, refused };
}

declare const library: typeof PageLibrary;
