import { request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { describeWithBrowser, openPage, startBrowser } from "../support/chromium.ts";
import { ConsolePage } from "../support/console/page.ts";
import { Fixture, type SvcProcess, startNode, type TestNode, waitFor } from "../support/index.ts";

/** `svc console` beside a node, each a process, as a browser meets them. */

const CHAIN_ID = "svc-console-1";
const fixture = new Fixture();
let node: TestNode;
let console_: SvcProcess;
let link = new URL("http://127.0.0.1");
let cookie = "";

beforeAll(async () => {
  node = await startNode(fixture, { chainId: CHAIN_ID });
  const words = ["console", "--node", node.address, "--home", fixture.tempHome("console"), "-o", "json"];
  console_ = await fixture.start("console", words);
  const { url, pid } = JSON.parse(await console_.line(/^\{/));
  expect(pid).toBe(console_.pid);
  link = new URL(url);
});

afterAll(() => fixture.close());

const JSON_TYPE = { "content-type": "application/json" };

async function ask(path: string, init: RequestInit = {}) {
  const headers = { cookie, origin: link.origin, ...init.headers };
  const response = await fetch(`${link.origin}${path}`, { redirect: "manual", ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
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

it("ends with Ctrl-C, an open websocket or not", async () => {
  const socket = new WebSocket(`${link.origin.replace("http", "ws")}/console/api/rpc/websocket`, {
    headers: { cookie, origin: link.origin },
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  expect(await console_.stop()).toBe(0);
});
