import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import keyVectors from "../../../test/vectors/keys.json" with { type: "json" };
import { fromBase64, toBase64 } from "../../util/index.ts";
import { decodeTx } from "../../wire/index.ts";

const root = mkdtempSync(join(tmpdir(), "svc-unordered-"));
afterAll(() => rmSync(root, { recursive: true }));
const [owner] = keyVectors.keys;
const ADDRESS = owner?.address ?? "";
const KEYRING = ["--keyring-dir", root, "--keyring-backend", "test"];
const SEND = ["tx", "bank", "send", ADDRESS, ADDRESS, "5stake", "--profile", "cosmos"];
const OFFLINE = ["--offline", "-a", "12", "--chain-id", "vec-1"];

beforeAll(async () => {
  const argv = ["keys", "add", "k0", "--recover", "--profile", "cosmos", ...KEYRING];
  expect((await runCli(argv, { input: `${owner?.mnemonic}\n` })).code).toBe(0);
});

async function ok(...argv: readonly string[]): Promise<string> {
  const { code, out, err } = await runCli(argv);
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  return out;
}

function file(text: string): string {
  const path = join(root, "tx.json");
  writeFileSync(path, text);
  return path;
}

describe("transactions without a sequence", () => {
  test("are written only where they are asked for", async () => {
    const { body } = JSON.parse(await ok(...SEND, "--generate-only"));
    expect(Object.keys(body)).not.toContain("unordered");
    expect(Object.keys(body)).not.toContain("timeout_timestamp");
  });

  test("have a time instead, and go through every form unchanged", async () => {
    const before = Date.now();
    const unsigned = await ok(...SEND, "--generate-only", "--unordered", "--timeout-duration", "5m");
    const { body } = JSON.parse(unsigned);
    expect(body.unordered).toBe(true);
    const until = Date.parse(body.timeout_timestamp) - before;
    expect(until).toBeGreaterThanOrEqual(300_000);
    expect(until).toBeLessThan(400_000);
    const encoded = (await ok("tx", "encode", file(unsigned))).trim();
    expect(await ok("tx", "decode", encoded)).toBe(unsigned);
    expect(toBase64(decodeTx(new Uint8Array(fromBase64(encoded)), { foreign: true }).raw.bodyBytes)).not.toBe("");
    expect(() => decodeTx(new Uint8Array(fromBase64(encoded)))).toThrow("unknown field 4 in TxBody");
  });

  test.each(["direct", "amino-json"])("are signed with sequence 0 in mode %s", async (mode) => {
    const lasting = ["--unordered", "--timeout-duration", "5m"];
    const unsigned = await ok(...SEND, "--generate-only", ...lasting);
    const sign = ["tx", "sign", file(unsigned), "--from", "k0", "--profile", "cosmos", "--sign-mode", mode, ...KEYRING];
    const signed = await ok(...sign, ...OFFLINE, "-s", "34");
    expect(JSON.parse(signed).auth_info.signer_infos[0].sequence).toBe("0");
    const check = ["tx", "validate-signatures", file(signed), "--profile", "cosmos", ...OFFLINE, "-s", "34"];
    expect(await ok(...check)).toContain("[OK]");
    const at = await ok(...SEND, "--from", "k0", ...OFFLINE, ...lasting, "-y", "--sign-mode", mode, ...KEYRING);
    expect(JSON.parse(at).auth_info.signer_infos[0].sequence).toBe("0");
  });

  test.each([
    [["--unordered"], "--unordered needs --timeout-duration"],
    [["--unordered", "--timeout-duration", "5m", "-s", "3"], "--unordered and --sequence cannot be used together"],
    [["--timeout-height", "9", "--timeout-duration", "5m"], "--timeout-height and --timeout-duration cannot be used"],
    [["--timeout-duration", "soon"], "--timeout-duration takes a duration"],
  ])("%j is refused", async (flags, text) => {
    const { code, err } = await runCli([...SEND, "--generate-only", ...flags]);
    expect(code).toBe(2);
    expect(err).toContain(text);
  });
});
