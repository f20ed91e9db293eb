import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { sendTx } from "../../src/client/index.ts";
import { fromBase64, toBase64 } from "../../src/util/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { SignDocSchema } from "../../src/wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { packAny } from "../../src/wire/index.ts";
import { MAIN } from "../support/build.ts";
import { describeWithBrowser, openPage, startBrowser } from "../support/chromium.ts";
import { ConsolePage } from "../support/console/page.ts";
import { UNHURRIED } from "../support/console/place.ts";
import { Fixture, runSvc, type SvcProcess, startNode, svcOk, type TestNode, waitFor } from "../support/index.ts";
import { environment } from "../support/run-svc.ts";

/** `svc console` beside a node, each a process, as a browser meets them. */

const CHAIN_ID = "svc-console-1";
const KEYRING = ["--keyring-backend", "test"];
const fixture = new Fixture();
/** Home with the key of an account that has tokens. */
let keys = "";
let address = "";
let node: TestNode;
let console_: SvcProcess;
let link = new URL("http://127.0.0.1");
let cookie = "";

beforeAll(async () => {
  keys = fixture.tempHome("keys");
  await svcOk(["keys", "add", "alice", ...KEYRING, "--home", keys]);
  address = (await svcOk(["keys", "show", "alice", "-a", ...KEYRING, "--home", keys])).trim();
  const accounts = [{ address, coins: [{ denom: "utoken", amount: 10n ** 9n }] }];
  node = await startNode(fixture, { ...UNHURRIED, chainId: CHAIN_ID, accounts });
  const words = ["console", "--node", node.address, "--home", fixture.tempHome("console"), "-o", "json"];
  console_ = await fixture.start("console", words);
  const { url, pid } = JSON.parse(await console_.line(/^\{/));
  expect(pid).toBe(console_.pid);
  link = new URL(url);
});

afterAll(() => fixture.close());

const JSON_TYPE = { "content-type": "application/json" };

function ask(path: string, init: RequestInit = {}) {
  return askAs({ origin: link.origin, cookie }, path, init);
}

async function askAs(page: { readonly origin: string; readonly cookie: string }, path: string, init: RequestInit) {
  const headers = { ...page, ...init.headers };
  const response = await fetch(`${page.origin}${path}`, { redirect: "manual", ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Opens a link as a browser does. */
async function enter(url: string) {
  const entrance = await fetch(url, { redirect: "manual" });
  const page = { origin: new URL(url).origin, cookie: entrance.headers.get("set-cookie")?.split(";")[0] ?? "" };
  return { ask: (path: string, init: RequestInit = {}) => askAs(page, path, init) };
}

it("opens once, for the browser that has the link", async () => {
  expect(link.hostname).toBe("127.0.0.1");
  expect((await ask("/console/")).status).toBe(401);
  const entrance = await fetch(link, { redirect: "manual" });
  expect([entrance.status, entrance.headers.get("location")]).toEqual([303, "/console/"]);
  cookie = entrance.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect((await fetch(link, { redirect: "manual" })).status).toBe(403);
  expect((await ask("/console/api/session")).text).toBe(
    JSON.stringify({ mode: "console", chainId: CHAIN_ID, node: `http://${node.address.replace("tcp://", "")}/` }),
  );
});

it("answers as the node does, over each of its interfaces", async () => {
  const call = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "status" });
  const posted = await ask("/console/api/rpc", { method: "POST", headers: JSON_TYPE, body: call });
  expect(JSON.parse(posted.text)).toMatchObject({ id: 7, result: { node_info: { network: CHAIN_ID } } });
  expect((await ask("/console/api/rpc/block?height=1")).text).toContain('"height":"1"');
  expect((await ask("/console/api/rest/cosmos/staking/v1beta1/params")).text).toContain('"bond_denom"');
  const latest = "/console/api/rest/cosmos/base/tendermint/v1beta1/node_info";
  expect((await ask(latest)).text).toContain(CHAIN_ID);
  const method = "/console/api/connect/cosmos.staking.v1beta1.Query/Params";
  expect((await ask(method, { method: "POST", headers: JSON_TYPE, body: "{}" })).text).toContain('"bondDenom"');
  expect((await ask("/console/api/rest/cosmos/auth/v1beta1/accounts/x")).status).toBe(400);
});

it("brings the node's events over a websocket", async () => {
  const socket = new WebSocket(`${link.origin.replace("http", "ws")}/console/api/rpc/websocket`, {
    headers: { cookie, origin: link.origin },
  });
  const heard: string[] = [];
  socket.on("message", (data) => heard.push(String(data)));
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscribe", params: { query: "tm.event='NewBlock'" } }));
  await waitFor(() => heard.length > 1, "the first event");
  expect(heard[1]).toContain("tendermint/event/NewBlock");
});

it("refuses a name that leads to this machine, and a page of another origin", async () => {
  const status = (headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      const sent = request(`${link.origin}/console/`, { headers: { cookie, ...headers } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.once("error", reject).end();
    });
  expect(await status({})).not.toBe(403);
  expect(await status({ host: "evil.example" })).toBe(403);
  expect(await status({ origin: "https://evil.example" })).toBe(403);
});

it("says that the node is gone, and goes on when it is back", async () => {
  await node.process.kill();
  const params = "/console/api/rest/cosmos/staking/v1beta1/params";
  expect((await ask(params)).status).toBe(503);
  expect((await ask("/console/api/rpc/status")).status).toBe(502);
  await node.start();
  await waitFor(async () => (await ask(params)).status === 200, "the node's answer");
});

describeWithBrowser("a browser", () => {
  it("shows the chain live to who opened the link, and leaves the code nowhere", async () => {
    const words = [
      "console",
      "--node",
      node.address,
      "--verify",
      "off",
      "--home",
      fixture.tempHome("browser"),
      "-o",
      "json",
    ];
    const process = await fixture.start("browser", words);
    const { url } = JSON.parse(await process.line(/^\{/));
    const browser = await startBrowser();
    fixture.defer(() => browser.close());
    const page = await browser.newPage();
    await openPage(page, url);
    const shown = new ConsolePage(page, new URL("/console/", url).href);
    await shown.open();
    await expect.poll(() => shown.state()).toBe("live");
    const height = await shown.height();
    await expect.poll(() => shown.height()).toBeGreaterThan(height);
    expect(shown.page.url()).not.toContain("code");
    expect(await shown.page.evaluate("document.cookie")).toBe("");
    expect(shown.faults).toEqual([]);
  });
});

/** `svc console --from alice` at a pseudo terminal; returns its link. */
async function startAtTerminal() {
  const out = join(fixture.tempHome(), "console.json");
  const words = ["console", "--from", "alice", ...KEYRING, "--home", keys, "--node", node.address, "-o", "json"];
  const line = `exec ${process.execPath} ${MAIN} ${words.join(" ")} > ${out}`;
  const options = { env: { ...environment({}), SHELL: "/bin/sh" } };
  const terminal = spawn("script", ["-qec", line, "/dev/null"], options);
  fixture.defer(() => terminal.kill("SIGKILL"));
  const ended = once(terminal, "close");
  let screen = "";
  terminal.stdout.on("data", (part) => (screen += part));
  await waitFor(() => existsSync(out) && readFileSync(out, "utf8").endsWith("\n"), "the link");
  /** Types the number of a question about an amount. */
  const agree = async (amount: string) => {
    const question = new RegExp(`"amount":"${amount}"[\\s\\S]*type (\\d{3}) to agree`);
    await waitFor(() => question.test(screen), "the question");
    terminal.stdin.write(`${question.exec(screen)?.[1]}\r`);
  };
  return { terminal, ended, agree, screen: () => screen, url: JSON.parse(readFileSync(out, "utf8")).url };
}

describeWithBrowser("a key of the keyring in a browser", () => {
  it("sends tokens from the page after its user has agreed at the terminal, and nothing after a refusal", async () => {
    const { terminal, agree, screen, url } = await startAtTerminal();
    const browser = await startBrowser();
    fixture.defer(() => browser.close());
    const page = await browser.newPage();
    await openPage(page, url);
    const shown = new ConsolePage(page, new URL("/console/", url).href);
    await shown.visit("wallet");
    await shown.press("Disconnect");
    await shown.press("Use alice");
    const send = async (amount: string) => {
      await page.getByLabel("To", { exact: true }).fill(address);
      await page.getByLabel("Amount in tokens").fill(amount);
      await shown.press("Send");
    };
    await send("0.000007");
    await agree("7");
    await expect.poll(() => shown.text()).toContain("succeeded");
    await send("0.000008");
    await waitFor(() => screen().match(/to agree, anything/g)?.length === 2, "the second question");
    terminal.stdin.write("no\r");
    await expect.poll(() => shown.text()).toContain("refused");
    expect(shown.faults).toEqual([]);
  });
});

describe("a key of the keyring", () => {
  it("signs for a page after its user has agreed at the terminal, and the chain takes it", async () => {
    const { terminal, ended, agree, screen, url } = await startAtTerminal();
    const page = await enter(url);
    const [key] = JSON.parse((await page.ask("/console/api/session")).text).keys;
    expect(key).toMatchObject({ name: "alice", address });

    const client = node.client();
    fixture.defer(() => client.close());
    const publicKey = { type: "secp256k1", key: fromBase64(key.publicKey) } as const;
    const sign = async (bytes: Uint8Array): Promise<Uint8Array> => {
      const { bodyBytes, authInfoBytes, chainId, accountNumber } = fromBinary(SignDocSchema, bytes);
      const doc = { bodyBytes: toBase64(bodyBytes), authInfoBytes: toBase64(authInfoBytes), chainId };
      const body = JSON.stringify({ account: address, signDoc: { ...doc, accountNumber: `${accountNumber}` } });
      const { status, text } = await page.ask("/console/api/sign", { method: "POST", headers: JSON_TYPE, body });
      if (status !== 200) throw new Error(JSON.parse(text).message);
      return fromBase64(JSON.parse(text).signature);
    };
    const send = packAny(MsgSendSchema, {
      fromAddress: address,
      toAddress: address,
      amount: [{ denom: "utoken", amount: "1" }],
    });
    const sent = sendTx(client, { address, publicKey, sign }, [send]);
    await agree("1");
    expect((await sent).code).toBe(0);

    // Ctrl-C at a question ends the console, and the page gets no signature.
    const refused = sendTx(client, { address, publicKey, sign }, [send]).catch(() => "no signature");
    await waitFor(() => screen().match(/to agree, anything/g)?.length === 2, "the second question");
    terminal.stdin.write("\u0003");
    expect(await refused).toBe("no signature");
    expect((await ended)[0]).toBe(0);
  });
});

it("needs a running provider for the page of its operator, and a key that is there", async () => {
  const home = fixture.tempHome("nobody");
  const words = ["console", "--node", node.address, ...KEYRING, "--home", home];
  const none = await runSvc([...words, "--provider", home, "--allow", "none"]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining(`no provider runs in ${home}`)]);
  const keyless = await runSvc([...words, "--from", "nobody"]);
  expect([keyless.code, keyless.stdout]).toEqual([1, ""]);
});

it("ends with Ctrl-C, an open websocket or not", async () => {
  const socket = new WebSocket(`${link.origin.replace("http", "ws")}/console/api/rpc/websocket`, {
    headers: { cookie, origin: link.origin },
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  expect(await console_.stop()).toBe(0);
});
