import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { offlineTx, type TxSigner } from "../../client/index.ts";
import { openSession, verifySecp256k1 } from "../../crypto/index.ts";
import { testKey } from "../../testing/index.ts";
import { fromBase64, toBase64, toUtf8 } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAuthInfo, packAny, publicKeyToAny, SignMode, signBytes } from "../../wire/index.ts";
import { createIo } from "../terminal/io.ts";
import { MAX_QUESTIONS } from "./limits.ts";
import { atTerminal, Questions } from "./questions.ts";
import { Signing } from "./signing.ts";

const CHAIN = { chainId: "svc-1", accountNumber: 7n, sequence: 3n };
const [alice, mallory] = [testKey("alice"), testKey("mallory")];
const signer: TxSigner = { ...alice, sign: async (bytes) => alice.sign(bytes) };
const forever = new AbortController().signal;

let screen = "";
let keyboard: PassThrough;
let questions: Questions;
let signing: Signing;

beforeEach(() => {
  screen = "";
  keyboard = new PassThrough();
  const show = (text: string) => (screen += text);
  const input = Object.assign(keyboard, { isTTY: true });
  questions = new Questions(atTerminal(createIo({ input, output: { write: show }, error: { write: show } })));
  signing = open("gateway");
});

function open(allowed: "gateway" | "none"): Signing {
  const parts = { signer, name: "alice", chainId: CHAIN.chainId, questions };
  return new Signing({ ...parts, asksForSessions: allowed === "none", tell: (line) => (screen += `${line}\n`) });
}

function call(path: string, of: Signing, body: string, signal: AbortSignal): Promise<SignAnswer> {
  const found = new Map(of.calls).get(path);
  if (found === undefined) throw new Error(`${path} is not answered`);
  return found.answer(body, signal) as Promise<SignAnswer>;
}

const transaction = (of: Signing, body: string, signal: AbortSignal) => call("sign", of, body, signal);
const session_ = (of: Signing, body: string, signal: AbortSignal) => call("sign/session", of, body, signal);

interface SignAnswer {
  readonly status: number;
  readonly body: { readonly signature: string } | { readonly code: string; readonly message: string };
}

interface Wish {
  readonly memo?: string;
  readonly key?: typeof alice;
  readonly mode?: SignMode;
}

function partsOf({ memo = "", key = alice, mode = SignMode.DIRECT }: Wish = {}) {
  const amount = [{ denom: "utoken", amount: "1000" }];
  const send = packAny(MsgSendSchema, { fromAddress: alice.address, toAddress: mallory.address, amount });
  const { bodyBytes, fee } = offlineTx([send], { ...CHAIN, memo });
  const publicKey = publicKeyToAny(key.publicKey);
  return { bodyBytes, authInfoBytes: encodeAuthInfo(fee, [{ publicKey, mode, sequence: CHAIN.sequence }]) };
}

function requestOf(wish: Wish = {}, changes: Record<string, string> = {}): string {
  const { bodyBytes, authInfoBytes } = partsOf(wish);
  const doc = { bodyBytes: toBase64(bodyBytes), authInfoBytes: toBase64(authInfoBytes), accountNumber: "7" };
  return JSON.stringify({ account: alice.address, signDoc: { chainId: CHAIN.chainId, ...doc, ...changes } });
}

/** The number that agrees to the question on the screen, the latest of `count`. */
async function asked(count = 1): Promise<string> {
  const numbers = () => [...screen.matchAll(/type (\d{3}) to agree/g)].map(([, number = ""]) => number);
  await waitFor(() => numbers().length >= count, "the question");
  return numbers()[count - 1] ?? "";
}

describe("a transaction", () => {
  it("is signed once its text was shown and the number typed", async () => {
    const answer = transaction(signing, requestOf({ memo: "rent" }), forever);
    keyboard.write(`${await asked()}\n`);
    const { status, body } = await answer;
    expect(status).toBe(200);
    const signature = fromBase64("signature" in body ? body.signature : "");
    const bytes = signBytes(SignMode.DIRECT, partsOf({ memo: "rent" }), CHAIN);
    expect(verifySecp256k1(alice.publicKey.type === "secp256k1" ? alice.publicKey.key : bytes, bytes, signature)).toBe(
      true,
    );
    expect(screen).toContain(`The console asks alice (${alice.address}) to sign on svc-1, as account 7:\n{"body":`);
    expect(screen).toContain(`"to_address":"${mallory.address}"`);
    expect(screen).toContain('"memo":"rent"');
  });

  it("is refused with anything else, also with an answer typed before the question", async () => {
    keyboard.write("y\n");
    expect(await transaction(signing, requestOf(), forever)).toEqual({
      status: 403,
      body: { code: "refused", message: "its user has refused" },
    });
    const answer = transaction(signing, requestOf(), forever);
    await asked(2);
    keyboard.write("\n");
    expect((await answer).status).toBe(403);
  });

  it("cannot write over the screen", async () => {
    const answer = transaction(signing, requestOf({ memo: "\u001b[2J\u202e" }), forever);
    await asked();
    for (const each of ["\u001b", "\u202e"]) expect(screen).not.toContain(each);
    keyboard.write("\n");
    await answer;
  });

  it.each([
    ["of another chain", requestOf({}, { chainId: "svc-2" }), "is for chain"],
    ["of another account", requestOf().replace(alice.address, mallory.address), "no key of this account"],
    ["that another key signs", requestOf({ key: mallory }), "not one that this key signs alone"],
    ["in another mode", requestOf({ mode: SignMode.LEGACY_AMINO_JSON }), "not one that this key signs alone"],
    ["with bytes that are none", requestOf({}, { bodyBytes: "%" }), ""],
    ["with a field that is not known", requestOf({}, { bodyBytes: toBase64(new Uint8Array([0x7a, 1, 0])) }), ""],
    ["with another account number", requestOf({}, { accountNumber: "-1" }), "account number"],
    ["too long to be read", requestOf({ memo: "x".repeat(70_000) }), "too long to be read"],
    ["in no JSON", "{", "another form"],
    ["without parts", "{}", "another form"],
  ])("%s is refused before anybody is asked", async (_, body, message) => {
    const answer = await transaction(signing, body, forever);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body).toMatchObject({ code: "refused", message: expect.stringContaining(message) });
    expect(screen).toBe("");
  });
});

describe("many requests", () => {
  it("are asked one after the other, and refused beyond a bound", async () => {
    const answers = Array.from({ length: 10_000 }, () => transaction(signing, requestOf(), forever));
    const crowded = (await Promise.all(answers.slice(MAX_QUESTIONS))).map(({ status }) => status);
    expect(new Set(crowded)).toEqual(new Set([429]));
    keyboard.write(`${await asked(1)}\n`);
    keyboard.write(`${await asked(2)}\n`);
    await asked(3);
    keyboard.write("no\n");
    const statuses = (await Promise.all(answers.slice(0, MAX_QUESTIONS))).map(({ status }) => status);
    // A refusal holds for all that wait.
    expect(statuses).toEqual([200, 200, ...Array.from({ length: MAX_QUESTIONS - 2 }, () => 403)]);
    expect(screen.match(/to agree, anything else/g)).toHaveLength(3);
  });

  it("of a page that has gone are not signed, and leave the next question its own answer", async () => {
    const page = new AbortController();
    const left = transaction(signing, requestOf(), page.signal);
    const number = await asked();
    page.abort();
    const next = transaction(signing, requestOf(), forever);
    keyboard.write(`${number}\n`);
    expect((await left).status).toBe(403);
    expect(screen).toContain("withdrawn by the page: press Enter to go on");
    keyboard.write(`${await asked(2)}\n`);
    expect((await next).status).toBe(200);
  });

  it("are refused where there is no terminal", async () => {
    const io = { isTTY: false, ask: async () => "", err: () => {} };
    const parts = { signer, name: "alice", chainId: CHAIN.chainId, asksForSessions: true, tell: () => {} };
    const silent = new Signing({ ...parts, questions: new Questions(atTerminal(io)) });
    expect(await transaction(silent, requestOf(), forever)).toMatchObject({
      status: 403,
      body: { message: "svc console has no terminal to ask in" },
    });
  });
});

describe("a session at gateways", () => {
  /** Opens a session as a page does, with the console's signature. */
  async function session(with_: Signing, wish: Partial<Parameters<typeof openSession>[0]> = {}) {
    const sign = async (bytes: Uint8Array) => {
      const input = Buffer.from(bytes).toString("utf8");
      const { body } = await session_(with_, JSON.stringify({ account: alice.address, input }), forever);
      if (!("signature" in body)) throw new Error(body.message);
      return fromBase64(body.signature);
    };
    return openSession({ account: alice.address, algorithm: "ES256K", now: Date.now(), sign, ...wish });
  }

  it("is signed without a question, and told", async () => {
    const { session: signed } = await session(signing);
    const [head = "", claims = "", signature = ""] = signed.split(".");
    const key = alice.publicKey.type === "secp256k1" ? alice.publicKey.key : new Uint8Array();
    const bytes = new Uint8Array(Buffer.from(signature, "base64url"));
    expect(verifySecp256k1(key, toUtf8(`${head}.${claims}`), bytes)).toBe(true);
    expect(screen).toMatch(/^session of alice: \{"access":"full"\} at all providers, until \d{4}-/);
  });

  it("is asked for with --allow none", async () => {
    const opened = session(open("none"), { providers: [mallory.address] });
    const number = await asked();
    expect(screen).toContain(`at ${mallory.address}, until`);
    keyboard.write(`${number}\n`);
    await expect(opened).resolves.toMatchObject({ session: expect.any(String) });
  });

  it("is refused if it is another account's, lasts too long, begins later, or is something else", async () => {
    await expect(session(signing, { account: mallory.address })).rejects.toThrow("the session is of");
    await expect(session(signing, { lifetime: 13 * 3600 })).rejects.toThrow("lasts too long");
    await expect(session(signing, { now: Date.now() + 3_600_000 })).rejects.toThrow("lasts too long");
    await expect(session(signing, { providers: ["x\n\nThe console asks"] })).rejects.toThrow(
      "no address of a provider",
    );
    const { bodyBytes } = partsOf();
    const token = `${Buffer.from('{"alg":"ES256K","typ":"JWT"}').toString("base64url")}.e30`;
    for (const input of [Buffer.from(bodyBytes).toString("latin1"), "", "a.b", token, "x".repeat(100_000)]) {
      const answer = await session_(signing, JSON.stringify({ account: alice.address, input }), forever);
      expect(answer).toMatchObject({ status: 400, body: { code: "refused" } });
    }
    expect(screen).toBe("");
  });
});
