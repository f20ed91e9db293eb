import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ran, runCli } from "../../../../test/cli/run.ts";
import keyVectors from "../../../../test/vectors/keys.json" with { type: "json" };
import amino from "../../../../test/vectors/std-tx-amino.json" with { type: "json" };
import { findTypeUrl } from "../../../wire/index.ts";

interface SignedVector {
  readonly signed_stdout: string;
  readonly encode_stdout: string;
  readonly signature_only_stdout: string;
}
interface Case {
  readonly name: string;
  readonly unsigned_json: { readonly body: { readonly messages: readonly { readonly "@type": string }[] } };
  readonly unsigned_stdout: string;
  readonly signer: string;
  readonly account_number: number;
  readonly sequence: number;
  readonly direct: SignedVector;
  readonly "amino-json": SignedVector;
  readonly amino_flag_stdout: string;
  readonly encode_unsigned_stdout: string;
}

const vectors = JSON.parse(
  readFileSync(new URL("../../../../test/vectors/tx-sdk042.json", import.meta.url), "utf8"),
) as {
  readonly chain_id: string;
  readonly cases: readonly Case[];
};
const cases = vectors.cases.filter(({ unsigned_json: tx }) =>
  tx.body.messages.every((message) => findTypeUrl(message["@type"]) !== undefined),
);

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-sign-"));
  // The recorded tool is older than today's names of messages.
  await runCli(["config", "set", "amino-names", "older", "--home", home]);
  for (const { name, mnemonic } of keyVectors.keys.filter((key) => ["k0", "k5"].includes(key.name))) {
    await svc(["keys", "add", name, "--recover"], `${mnemonic}\n`);
  }
});
afterAll(() => rm(home, { recursive: true }));

function svc(args: readonly string[], input = ""): Promise<Ran> {
  return runCli([...args, "--home", home, "--keyring-backend", "test"], { input });
}

async function file(name: string, text: string): Promise<string> {
  const path = join(home, name);
  await writeFile(path, text);
  return path;
}

const offline = ({ account_number: number, sequence, signer }: Case): string[] => [
  ...["--offline", "-a", String(number), "-s", String(sequence)],
  ...["--from", signer, "--chain-id", vectors.chain_id],
];

const MODES = ["direct", "amino-json"] as const;

describe("recorded transactions", () => {
  test("there are some", () => expect(cases.length).toBeGreaterThan(0));

  test.each(cases.flatMap((vector) => MODES.map((mode) => ({ name: vector.name, mode, vector }))))(
    "$name, signed offline in mode $mode",
    async ({ vector, mode }) => {
      const path = await file("unsigned.json", vector.unsigned_stdout);
      const flags = [...offline(vector), "--sign-mode", mode];
      const expected = vector[mode];
      expect(await svc(["tx", "sign", path, ...flags])).toEqual({ code: 0, out: expected.signed_stdout, err: "" });
      expect((await svc(["tx", "sign", path, "--signature-only", ...flags])).out).toBe(expected.signature_only_stdout);
      const signed = await file("signed.json", expected.signed_stdout);
      expect((await runCli(["tx", "encode", signed])).out).toBe(expected.encode_stdout);
      // The reference leaves out the newline.
      expect((await runCli(["tx", "decode", expected.encode_stdout])).out).toBe(expected.signed_stdout);
    },
  );

  test.each(cases)("$name in the older form", async (vector) => {
    const path = await file("unsigned.json", vector.unsigned_stdout);
    const ran = await svc(["tx", "sign", path, "--amino", "--sign-mode", "amino-json", ...offline(vector)]);
    expect(ran.out).toBe(vector.amino_flag_stdout);
    expect((await svc(["tx", "sign", path, "--amino", ...offline(vector)])).out).toBe(vector.amino_flag_stdout);
  });

  test.each(cases)("$name in legacy amino", async ({ name, "amino-json": { signed_stdout } }) => {
    const ran = await runCli(["tx", "encode", "--amino", "-"], { input: signed_stdout });
    expect(ran).toEqual({ code: 0, out: `${amino.items.find((item) => item.name === name)?.base64}\n`, err: "" });
  });

  test.each(cases)("$name in legacy amino is read in its older form", async ({ name, amino_flag_stdout }) => {
    const base64 = amino.items.find((item) => item.name === name)?.base64 ?? "";
    const ran = await runCli(["tx", "decode", base64]);
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: expect.stringContaining("legacy amino") });
    expect(JSON.parse(ran.out)).toEqual(JSON.parse(amino_flag_stdout).tx);
    const hex = Buffer.from(base64, "base64").toString("hex");
    expect((await runCli(["tx", "decode", "--hex", hex])).out).toBe(ran.out);
  });

  test.each(cases)("$name in hexadecimal", async ({ direct }) => {
    const hex = Buffer.from(direct.encode_stdout, "base64").toString("hex");
    expect((await runCli(["tx", "decode", "-x", hex])).out).toBe(direct.signed_stdout);
    expect((await runCli(["tx", "decode", "-"], { input: direct.encode_stdout })).out).toBe(direct.signed_stdout);
  });

  test.each(cases)("$name, unsigned, as bytes", async (vector) => {
    const ran = await runCli(["tx", "encode", "-"], { input: vector.unsigned_stdout });
    expect(ran).toEqual({ code: 0, out: vector.encode_unsigned_stdout, err: "" });
  });
});

describe("tx sign", () => {
  const [vector] = cases;
  const unsigned = () => file("unsigned.json", vector?.unsigned_stdout ?? "");

  test("a signature is replaced by its new one, and --overwrite drops all others", async () => {
    if (vector === undefined) throw new Error("no vectors");
    const signed = await file("signed.json", vector.direct.signed_stdout);
    const again = await svc(["tx", "sign", signed, ...offline(vector)]);
    expect(again.out).toBe(vector.direct.signed_stdout);
    expect((await svc(["tx", "sign", signed, "--overwrite", ...offline(vector)])).out).toBe(again.out);
  });

  test("the signatures of others stay, and go with --overwrite", async () => {
    if (vector === undefined) throw new Error("no vectors");
    const tx = JSON.parse(vector["amino-json"].signed_stdout);
    const key = "A6bncrnIx1KJLJzGhRBJ0CGbTtHnZjb3NziLYle4D1tV";
    const public_key = { "@type": "/cosmos.crypto.secp256k1.PubKey", key };
    tx.auth_info.signer_infos.push({
      public_key,
      mode_info: { single: { mode: "SIGN_MODE_LEGACY_AMINO_JSON" } },
      sequence: "9",
    });
    tx.signatures.push("AAAA");
    const path = await file("others.json", JSON.stringify(tx));
    const flags = ["--sign-mode", "amino-json", ...offline(vector)];
    expect(JSON.parse((await svc(["tx", "sign", path, ...flags])).out).signatures).toContain("AAAA");
    expect((await svc(["tx", "sign", path, "--overwrite", ...flags])).out).toBe(vector["amino-json"].signed_stdout);
  });

  test("--output-document takes the place of standard output", async () => {
    if (vector === undefined) throw new Error("no vectors");
    const document = join(home, "document.json");
    const ran = await svc(["tx", "sign", await unsigned(), ...offline(vector), "--output-document", document]);
    expect(ran).toEqual({ code: 0, out: "", err: "" });
    expect(await readFile(document, "utf8")).toBe(vector.direct.signed_stdout);
  });

  test.each([
    ["no numbers", ["--offline", "--from", "k0", "--chain-id", "x"], 2, "required flag --account-number is not set"],
    ["no chain", ["--offline", "--from", "k0", "-a", "1", "-s", "1"], 2, "required flag --chain-id is not set"],
    ["no key", ["--offline", "--chain-id", "x", "-a", "1", "-s", "1"], 2, "required flag --from is not set"],
    [
      "another key",
      ["--offline", "--from", "k5", "--chain-id", "x", "-a", "1", "-s", "1"],
      1,
      "does not match the given signer: k5",
    ],
    [
      "an unknown key",
      ["--offline", "--from", "nobody", "--chain-id", "x", "-a", "1", "-s", "1"],
      1,
      "nobody is not a valid name or address",
    ],
  ])("%s", async (_, flags, code, text) => {
    const ran = await svc(["tx", "sign", await unsigned(), ...flags]);
    expect(ran.code).toBe(code);
    expect(ran.out).toBe("");
    expect(ran.err).toContain(text);
  });
});
