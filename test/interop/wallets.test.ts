import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { connectExtension } from "../../src/console/wallet/extension.ts";
import { arbitraryDocument, verifySecp256k1 } from "../../src/crypto/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { toUtf8 } from "../../src/util/index.ts";
import { encodeAddress } from "../../src/wire/index.ts";
import { KeplrDouble } from "../support/console/keplr.ts";
import { Fixture } from "../support/index.ts";
import { type BusyNode, startBusyNode } from "./busy-node.ts";
import { buildPeer, Peer } from "./peers.ts";
import { REST_PATHS } from "./rest-paths.ts";

/** Requests of browser wallets and light explorers to a chain, and a wallet's rules for adding a chain to its list. */

const SEED = 2;
const CHAIN_ID = "svc-test-1";
/** Features that the wallet detects by itself. */
const FEATURES = ["query:/cosmos/bank/v1beta1/spendable_balances"];
const STRANGER = encodeAddress(new Uint8Array(20).fill(9));

const built = await buildPeer("keplr");
const missing = built instanceof Peer ? "" : built.missing;
const fixture = new Fixture();
let busy: BusyNode;

beforeAll(async () => {
  busy = await startBusyNode(fixture, SEED);
});

afterAll(async () => {
  if (built instanceof Peer) built.remove();
  await fixture.close();
});

interface ChainInfo {
  readonly rpc: string;
  readonly rest: string;
}

/** The parts of the wallet's package that are used; it has types of its own, which pull in the whole wallet. */
interface ChainValidator {
  validateBasicChainInfoType(info: object): Promise<object>;
  checkRPCConnectivity(chainId: string, rpc: string, open: (url: string) => unknown): Promise<void>;
  checkRestConnectivity(chainId: string, rest: string): Promise<void>;
  checkChainFeatures(info: object): Promise<string[]>;
}

/** The wallet's own verdict on the texts that it signs. */
interface ArbitraryJudge {
  verifyADR36Amino(prefix: string, signer: string, text: string, key: Uint8Array, signature: Uint8Array): boolean;
}

describe("a wallet that is offered the chain", () => {
  test.skipIf(missing !== "" && process.env.CI !== "true")(
    missing === "" ? "its package is there" : `no package of the wallet, its rules are not tested: ${missing}`,
    () => expect(missing).toBe(""),
  );

  test.skipIf(missing !== "")("verifies the texts that we take as signed by a wallet, and no others", async () => {
    if (!(built instanceof Peer)) return;
    const judge: ArbitraryJudge = createRequire(built.binary)("@keplr-wallet/cosmos");
    const [anna, text] = [testKey("anna"), "header.payload"];
    const double = new KeplrDouble(anna);
    const host = { globals: { keplr: double }, events: double };
    const request = { name: "keplr", chainId: CHAIN_ID, info: { chainId: CHAIN_ID } } as const;
    const wallet = await connectExtension(host, request);
    const [signature, key] = [await wallet.text?.sign(toUtf8(text)), wallet.publicKey?.key];
    if (signature === undefined || key === undefined) throw new Error("the wallet signs no texts");
    for (const signed of [text, `${text}.`]) {
      const verdict = judge.verifyADR36Amino("svc", anna.address, signed, key, signature);
      expect(verdict).toBe(signed === text);
      expect(verifySecp256k1(key, arbitraryDocument(toUtf8(signed), anna.address), signature)).toBe(verdict);
    }
  });

  test.skipIf(missing !== "")("takes it into its list, reaches it, and knows what it can do", async () => {
    if (!(built instanceof Peer)) return;
    const wallet: ChainValidator = createRequire(import.meta.url)(built.binary);
    const info: ChainInfo = JSON.parse(await (await fetch(`${busy.rest}/console/api/chain.json`)).text());
    const { rpc, rest } = info;
    await expect(wallet.validateBasicChainInfoType(info)).resolves.toEqual(info);
    await wallet.checkRPCConnectivity(CHAIN_ID, rpc, (url) => new WebSocket(url));
    await wallet.checkRestConnectivity(CHAIN_ID, rest);
    await expect(wallet.checkChainFeatures(info)).resolves.toEqual([]);
    await expect(wallet.checkChainFeatures({ ...info, features: [] })).resolves.toEqual(FEATURES);
    await expect(wallet.checkRestConnectivity("other-1", rest)).rejects.toThrow("different chain id");
  });
});

describe("REST as wallets and explorers ask for it", () => {
  async function get(path: string): Promise<Response> {
    const height = await latestHeight();
    const filled = path.replace("{a}", busy.operator.address).replace("{v}", busy.validator).replace("{h}", height);
    return fetch(`${busy.rest}/cosmos/${filled}`, { headers: { origin: "https://wallet.example" } });
  }

  async function latestHeight(): Promise<string> {
    const answer = await fetch(`${busy.rest}/cosmos/base/tendermint/v1beta1/blocks/latest`);
    const { block } = (await answer.json()) as { block: { header: { height: string } } };
    return block.header.height;
  }

  test.each(REST_PATHS)("%s", async (path) => {
    const answer = await get(path);
    expect(`${answer.status} ${await answer.text()}`).toMatch(/^200 \{/);
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("unknown routes, bad values and unknown accounts have the statuses that probes expect", async () => {
    const refusal = { code: expect.any(Number), message: expect.any(String), details: [] };
    const status = async (path: string): Promise<number> => {
      const answer = await get(path);
      expect(await answer.json()).toEqual(refusal);
      return answer.status;
    };
    expect(await status("nothing/v1beta1/here")).toBe(501);
    expect(await status("bank/v1beta1/balances/nonsense")).toBe(400);
    expect(await status(`auth/v1beta1/accounts/${STRANGER}`)).toBe(404);
  });
});
