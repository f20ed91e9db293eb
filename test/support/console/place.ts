import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext } from "playwright-core";
import { onTestFinished } from "vitest";
import type { ProviderConfig } from "../../../src/provider/daemon/config.ts";
import { parseScales, scalePricing } from "../../../src/provider/pricing/index.ts";
import { type TestKey, testKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM, toHex } from "../../../src/util/index.ts";
import { MAIN } from "../build.ts";
import { openPage, startBrowser } from "../chromium.ts";
import type { Fixture } from "../fixture.ts";
import { startNode, type TestNode } from "../node.ts";
import { freePorts } from "../ports.ts";
import { quietConfig, TestDaemon, testMarketplace } from "../provider/daemon.ts";
import { environment, svcOk } from "../run-svc.ts";
import { waitFor } from "../wait.ts";
import { installKeplr, KeplrDouble, type KeplrSwitches } from "./keplr.ts";
import { ConsolePage } from "./page.ts";

const FUNDS = [{ denom: NATIVE_DENOM, amount: 10n ** 12n }];
const TENANTS = ["tenant", "neighbour"];
/** Prices of a thousandth of a core by the order of the providers: the first is the cheapest. */
const PRICES = ["0.01", "0.02", "0.03"];
/** For `startNode`: pages, providers and the test itself look at each block, which is most of their work at the usual pace. */
export const UNHURRIED = { blockIntervalMs: 400 } as const;
const NODE_PORTS = 50;
const FIRST_NODE_PORT = 40_000;

export interface PlaceRequest {
  /** How many providers bid; one unless given, three at most. */
  readonly providers?: number;
}

/** A provider whose daemon runs in this process on a cluster in memory; `daemon.halt()` and `daemon.start()` are its outage. */
export interface PlaceProvider {
  readonly address: string;
  /** Its address for browsers, with a certificate that the pages of `open` accept. */
  readonly webGateway: string;
  readonly daemon: TestDaemon;
}

/**
 * A marketplace for tests of the console with a browser: a node that serves the pages, providers on clusters in memory whose
 * services answer over HTTP, funded keys `tenant` and `neighbour`, and `svc console` beside them. All ends with the fixture.
 */
export class ConsolePlace {
  readonly #fixture: Fixture;
  readonly node: TestNode;
  /** Where the node serves the console. */
  readonly url: string;
  readonly providers: readonly PlaceProvider[];
  readonly browser: Browser;

  private constructor(fixture: Fixture, parts: Pick<ConsolePlace, "node" | "url" | "providers" | "browser">) {
    this.#fixture = fixture;
    this.node = parts.node;
    this.url = parts.url;
    this.providers = parts.providers;
    this.browser = parts.browser;
  }

  static async start(fixture: Fixture, { providers: count = 1 }: PlaceRequest = {}): Promise<ConsolePlace> {
    const names = PRICES.slice(0, count).map((_, at) => `provider-${at}`);
    const accounts = [...TENANTS, ...names].map((name) => ({ address: testKey(name).address, coins: FUNDS }));
    const [port] = await freePorts(1);
    const flags = ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`];
    const node = await startNode(fixture, { ...UNHURRIED, accounts, flags });
    const providers = [];
    for (const [at, name] of names.entries()) providers.push(await startProvider(fixture, node, { name, at }));
    const browser = await startBrowser();
    fixture.defer(() => browser.close());
    return new ConsolePlace(fixture, { node, url: `http://127.0.0.1:${port}/console/`, providers, browser });
  }

  key(name = "tenant"): TestKey {
    return testKey(name);
  }

  /** A profile of the browser of its own, which accepts the certificates of the providers' addresses for browsers. */
  async context(): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      ignoreHTTPSErrors: true,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    this.#fixture.defer(() => context.close());
    return context;
  }

  /** A page at the node's console; `context` opens it as a further tab of another page's profile. */
  async open(context?: BrowserContext, url = this.url): Promise<ConsolePage> {
    const opened = await this.#newPage(context, url);
    await opened.open();
    return opened;
  }

  /** The same with Keplr's double for a key, which is connected. */
  async openWithKeplr(
    switches: KeplrSwitches = {},
    { key = testKey("tenant"), context }: { readonly key?: TestKey; readonly context?: BrowserContext } = {},
  ) {
    const double = new KeplrDouble(key, switches);
    const opened = await this.#newPage(context, this.url);
    await installKeplr(opened.page, double);
    await opened.open();
    await connectKeplr(opened);
    return { double, opened };
  }

  async #newPage(context: BrowserContext | undefined, url: string): Promise<ConsolePage> {
    const page = await (context ?? (await this.context())).newPage();
    return new ConsolePage(
      page,
      url,
      this.providers.map(({ webGateway }) => webGateway),
    );
  }

  /** `svc console --from` with a test key, at a pseudo terminal; it ends with the test. */
  async console(name = "tenant", words: readonly string[] = []): Promise<ConsoleTerminal> {
    const home = this.#fixture.tempHome();
    const keyring = ["--keyring-backend", "test", "--home", home];
    await svcOk(["keys", "import-hex", name, ...keyring], { input: `${toHex(testKey(name).privateKey)}\n` });
    const all = ["console", "--from", name, ...keyring, "--node", this.node.address, "-o", "json", ...words];
    const terminal = new ConsoleTerminal(all, join(home, "console.json"));
    onTestFinished(() => terminal.kill());
    await terminal.ready();
    return terminal;
  }

  /** A page at the link of `svc console`. */
  async openAt(terminal: ConsoleTerminal): Promise<ConsolePage> {
    const page = await (await this.context()).newPage();
    const { link } = terminal;
    await openPage(page, link);
    const opened = new ConsolePage(page, new URL("/console/", link).href);
    await opened.open();
    return opened;
  }
}

/** Connects Keplr on the page Wallet; needed again after the page was loaded again. */
export async function connectKeplr(opened: ConsolePage): Promise<void> {
  await opened.visit("wallet");
  await opened.press("Connect Keplr");
  await waitFor(async () => (await opened.text()).includes("wallet of this browser"), "the wallet");
}

async function startProvider(
  fixture: Fixture,
  node: TestNode,
  { name, at }: { readonly name: string; readonly at: number },
): Promise<PlaceProvider> {
  const [gateway = 0, tls = 0, http = 0] = await freePorts(3);
  const webGateway = `https://gateway.localhost:${tls}`;
  const url = node.address.replace("tcp:", "http:");
  const market = await testMarketplace(
    { url, key: testKey },
    {
      name,
      hostUri: `https://localhost:${gateway}`,
      attributes: [
        { key: "region", value: "eu" },
        { key: "web-gateway", value: webGateway },
      ],
    },
  );
  const first = FIRST_NODE_PORT + at * NODE_PORTS;
  const config = placeConfig(fixture.tempHome(name), { gateway, tls, http, price: PRICES[at] ?? "1" });
  const daemon = new TestDaemon(market, { config, nodePorts: { first, last: first + NODE_PORTS - 1 } });
  fixture.defer(() => daemon.stop());
  await daemon.start();
  return { address: testKey(name).address, webGateway, daemon };
}

interface ProviderPorts {
  readonly gateway: number;
  readonly tls: number;
  readonly http: number;
  readonly price: string;
}

/** The ports stay the same when the daemon starts again. */
function placeConfig(stateDir: string, { gateway, tls, http, price }: ProviderPorts): Omit<ProviderConfig, "driver"> {
  const quiet = quietConfig(stateDir);
  const host = "127.0.0.1";
  const authority = join(stateDir, "authority");
  return {
    ...quiet,
    pricing: scalePricing(parseScales({ cpu: price, memory: "0", storage: "0", endpoint: "0", ip: "0" })),
    ingress: { ...quiet.ingress, port: http, tls: { host, port: tls, redirect: false, certificates: [], authority } },
    gateway: { host, port: gateway },
  };
}

const QUESTION = /type (\d{3}) to agree/;

/** `svc console` at a pseudo terminal (`script` of util-linux makes one). */
export class ConsoleTerminal {
  readonly #out: string;
  readonly #child: ReturnType<typeof spawn>;
  #screen = "";
  #answered = 0;

  constructor(words: readonly string[], out: string) {
    this.#out = out;
    const line = `exec ${process.execPath} ${MAIN} ${words.join(" ")} > ${out}`;
    this.#child = spawn("script", ["-qec", line, "/dev/null"], { env: { ...environment({}), SHELL: "/bin/sh" } });
    this.#child.stdout?.on("data", (part) => {
      this.#screen += part;
    });
  }

  /** All that has been shown, with questions and answers. */
  get screen(): string {
    return this.#screen;
  }

  /** The link opens the console once. */
  get link(): string {
    const { url }: { url: string } = JSON.parse(readFileSync(this.#out, "utf8"));
    return url;
  }

  async ready(): Promise<void> {
    await waitFor(() => existsSync(this.#out) && readFileSync(this.#out, "utf8").endsWith("\n"), "the link");
  }

  /** Agrees to the next question; resolves with its text. */
  async agree(): Promise<string> {
    const { text, number } = await this.#question();
    this.#child.stdin?.write(`${number}\r`);
    return text;
  }

  /** Refuses the next question; resolves with its text. */
  async refuse(): Promise<string> {
    const { text } = await this.#question();
    this.#child.stdin?.write("no\r");
    return text;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async #question(): Promise<{ readonly text: string; readonly number: string }> {
    await waitFor(() => QUESTION.test(this.#screen.slice(this.#answered)), "a question at the terminal");
    const text = this.#screen.slice(this.#answered);
    this.#answered = this.#screen.length;
    return { text, number: QUESTION.exec(text)?.[1] ?? "" };
  }
}
