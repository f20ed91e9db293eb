import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ran, runCli } from "../../../../test/cli/run.ts";
import keyVectors from "../../../../test/vectors/keys.json" with { type: "json" };

interface Recorded {
  readonly unsigned_stdout: string;
  readonly account_number: number;
  readonly sequence: number;
  readonly parts: readonly { readonly signer: string; readonly stdout: string }[];
  readonly multisign_stdout: string;
  readonly encode_stdout: string;
  readonly amino_flag_stdout: string;
  readonly signature_only_stdout: string;
  readonly validate_offline: { readonly stdout: string };
}
const vectors = JSON.parse(
  readFileSync(new URL("../../../../test/vectors/tx-sdk042.json", import.meta.url), "utf8"),
) as {
  readonly chain_id: string;
  readonly multisig: Recorded;
};
const recorded = vectors.multisig;
const team = keyVectors.multisig.find(({ name }) => name === "ms_sorted");
const CHAIN = ["--chain-id", vectors.chain_id];
const NUMBERS = ["--offline", "-a", String(recorded.account_number), "-s", String(recorded.sequence), ...CHAIN];

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-multisign-"));
  for (const { name, mnemonic } of keyVectors.keys.filter((key) => ["k0", "k5", "k6"].includes(key.name))) {
    await svc(["keys", "add", name, "--recover"], `${mnemonic}\n`);
  }
  await svc(["keys", "add", "team", "--multisig", "k0,k5,k6", "--multisig-threshold", "2"]);
});
afterAll(() => rm(home, { recursive: true }));

function svc(args: readonly string[], input = ""): Promise<Ran> {
  return runCli([...args, "--home", home, "--keyring-backend", "test", "--profile", "cosmos"], { input });
}

async function file(name: string, text: string): Promise<string> {
  const path = join(home, name);
  await writeFile(path, text);
  return path;
}

/** A key that is not a member of the multisig. */
const OTHER_KEY = {
  "@type": "/cosmos.crypto.secp256k1.PubKey",
  key: "A6bncrnIx1KJLJzGhRBJ0CGbTtHnZjb3NziLYle4D1tV",
};
const unsigned = () => file("unsigned.json", recorded.unsigned_stdout);
const shares = () => Promise.all(recorded.parts.map(({ signer, stdout }) => file(`${signer}.json`, stdout)));
describe("the recorded multisig", () => {
  test.each(recorded.parts)("share of $signer", async ({ signer, stdout }) => {
    for (const multisig of [team?.address ?? "", "team"]) {
      const ran = await svc(["tx", "sign", await unsigned(), "--multisig", multisig, "--from", signer, ...NUMBERS]);
      expect(ran).toEqual({ code: 0, out: stdout, err: "" });
    }
  });

  test("the shares may come in any order, twice, and in one file", async () => {
    const [k0 = "", k6 = ""] = await shares();
    const [first, second] = recorded.parts.map(({ stdout }) => JSON.parse(stdout).signatures[0]);
    const both = await file("both.json", JSON.stringify({ signatures: [second, first] }));
    for (const files of [[k6, k0], [k0, k6, k0], [both]]) {
      const ran = await svc(["tx", "multisign", await unsigned(), team?.address ?? "", ...files, ...NUMBERS]);
      expect(ran.out).toBe(recorded.multisign_stdout);
    }
  });

  test("its bytes, and whether its signatures hold", async () => {
    const signed = await file("signed.json", recorded.multisign_stdout);
    expect((await svc(["tx", "encode", signed])).out).toBe(recorded.encode_stdout);
    const valid = { code: 0, out: recorded.validate_offline.stdout, err: "" };
    expect(await svc(["tx", "validate-signatures", signed, "--offline"])).toEqual(valid);
    expect(await svc(["tx", "validate-signatures", signed, ...NUMBERS])).toEqual(valid);
    const other = await svc(["tx", "validate-signatures", signed, ...NUMBERS.slice(0, -1), "other-1"]);
    expect(other.code).toBe(1);
    expect(other.out).toContain("[ERROR: signature is not valid for account number 5, sequence 6 and chain other-1]");
    expect(other.err).toBe("Error: signatures validation failed\n");
  });
});

/** A batch may have a single line; it is combined like a single transaction. */
describe.each(["multisign", "multisign-batch"])("tx %s", (command) => {
  const run = async (path: string, ...flags: string[]) =>
    svc(["tx", command, path, "team", ...(await shares()), ...NUMBERS, ...flags]);

  test.each([
    ["the transaction", [], recorded.multisign_stdout],
    ["the signature alone", ["--signature-only"], recorded.signature_only_stdout],
    ["the older form", ["--amino"], recorded.amino_flag_stdout],
  ])("put together: %s", async (_, flags, expected) => {
    expect(await run(await unsigned(), ...flags)).toEqual({ code: 0, out: expected, err: "" });
  });

  test("--output-document takes the place of standard output", async () => {
    const document = join(home, "document.json");
    expect(await run(await unsigned(), "--output-document", document)).toEqual({ code: 0, out: "", err: "" });
    expect(await readFile(document, "utf8")).toBe(recorded.multisign_stdout);
  });

  test("--overwrite replaces the signatures of the file", async () => {
    const tx = JSON.parse(recorded.multisign_stdout);
    const other = { mode_info: { single: { mode: "SIGN_MODE_DIRECT" } }, sequence: "9" };
    tx.auth_info.signer_infos.push({ public_key: OTHER_KEY, ...other });
    tx.signatures.push("AAAA");
    const signed = await file("others.json", JSON.stringify(tx));
    expect(JSON.parse((await run(signed)).out).signatures).toContain("AAAA");
    expect(await run(signed, "--overwrite")).toEqual({ code: 0, out: recorded.multisign_stdout, err: "" });
  });

  test("--skip-signature-verification puts it together all the same", async () => {
    const other = ["-s", "7"];
    expect(await run(await unsigned(), ...other)).toMatchObject({ code: 1, out: "" });
    const ran = await run(await unsigned(), ...other, "--skip-signature-verification");
    expect(JSON.parse(ran.out).auth_info.signer_infos[0].sequence).toBe("7");
  });
});

describe("refusals", () => {
  const refused = async (ran: Promise<Ran>, text: string) => {
    const { code, out, err } = await ran;
    expect({ refused: code > 0, out }).toEqual({ refused: true, out: "" });
    expect(err).toContain(text);
  };

  test("one share is not enough", async () => {
    const [k0 = ""] = await shares();
    const args = ["tx", "multisign", await unsigned(), "team", k0, ...NUMBERS];
    await refused(
      svc(args),
      "not enough signatures, have 1, expected 2: unauthorized\nHint: give the signatures of more",
    );
  });

  test("a share for another sequence, reported with the right one", async () => {
    const numbers = ["--offline", "-a", "5", "-s", "7", ...CHAIN];
    const ran = svc(["tx", "multisign", await unsigned(), "team", ...(await shares()), ...numbers]);
    await refused(ran, "couldn't verify signature of cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6");
    await refused(ran, "it must be for chain vec-1, account number 5, sequence 7");
  });

  test("a share of another account", async () => {
    const phrase = keyVectors.keys.find(({ name }) => name === "k1")?.mnemonic ?? "";
    const stranger = ["stranger", "--recover", "--account", "1"];
    await svc(["keys", "add", ...stranger], `${phrase}\n`);
    const sign = ["tx", "sign", await unsigned(), "--from", "stranger", ...NUMBERS, "--multisig"];
    await refused(svc([...sign, "team"]), 'key "stranger" is not a member of the multisig "team"');
    // Where the multisig is not known, its members are not known either.
    const elsewhere = ["--keyring-dir", join(home, "elsewhere")];
    await svc(["keys", "add", ...stranger, ...elsewhere], `${phrase}\n`);
    const share = await file("stranger.json", (await svc([...sign, team?.address ?? "", ...elsewhere])).out);
    const ran = svc(["tx", "multisign", await unsigned(), "team", ...(await shares()), share, ...NUMBERS]);
    await refused(ran, "a signature is not of a member of the multisig");
  });

  test("a key that is not a multisig, and a multisig that does not sign here", async () => {
    await refused(
      svc(["tx", "multisign", await unsigned(), "k0", ...(await shares()), ...NUMBERS]),
      '"k0" must be of type multi: local',
    );
    const other = await file("other.json", recorded.unsigned_stdout.replaceAll(team?.address ?? "", k0Address()));
    await refused(
      svc(["tx", "multisign", other, "team", ...(await shares()), ...NUMBERS]),
      "tx intended signer does not match the given signer: team",
    );
  });

  test("a multisig signs nothing by itself, and its members not in mode direct", async () => {
    await refused(
      svc(["tx", "sign", await unsigned(), "--from", "team", ...NUMBERS]),
      'key "team" is a multisig and cannot sign alone',
    );
    await refused(
      svc(["tx", "sign", await unsigned(), "--from", "k0", "--multisig", "team", "--sign-mode", "direct", ...NUMBERS]),
      "members of a multisig sign in mode amino-json",
    );
  });

  test.each([
    ["no JSON", "x", "invalid JSON"],
    ["no signatures", '{"signatures":[]}', "it has no signatures"],
    ["a whole transaction", recorded.multisign_stdout, "signature file"],
    ["the signature of a multisig", recorded.signature_only_stdout, "it does not hold the signature of one key"],
    [
      "a share of mode direct",
      (recorded.parts[0]?.stdout ?? "").replace("LEGACY_AMINO_JSON", "DIRECT"),
      "it is not of mode amino-json",
    ],
  ])("a file with %s", async (_, text, expected) => {
    const share = await file("share.json", text);
    await refused(svc(["tx", "multisign", await unsigned(), "team", share, share, ...NUMBERS]), expected);
  });
});

const k0Address = () => keyVectors.keys.find(({ name }) => name === "k0")?.address ?? "";

describe("batches", () => {
  const line = (amount: number) => recorded.unsigned_stdout.replace('"99"', `"${amount}"`);
  const batch = () => file("batch.jsonl", `${line(1)}\n${line(2)}${line(3)}`);
  const signedBy = async (signer: string) => {
    const ran = await svc(["tx", "sign-batch", await batch(), "--multisig", "team", "--from", signer, ...NUMBERS]);
    expect(ran.code).toBe(0);
    return file(`${signer}.jsonl`, ran.out);
  };

  test("members sign and their signatures are put together, each line with the next sequence", async () => {
    const files = [await signedBy("k0"), await signedBy("k6")];
    const ran = await svc(["tx", "multisign-batch", await batch(), "team", ...files, ...NUMBERS]);
    const txs = ran.out.trimEnd().split("\n");
    expect(txs.map((text) => JSON.parse(text).auth_info.signer_infos[0].sequence)).toEqual(["6", "7", "8"]);
    for (const [i, text] of txs.entries()) {
      const signed = await file("signed.json", text);
      const numbers = ["--offline", "-a", "5", "-s", String(6 + i), ...CHAIN];
      expect((await svc(["tx", "validate-signatures", signed, ...numbers])).code).toBe(0);
    }
  });

  test("--no-auto-increment keeps the sequence, for which the other lines were not signed", async () => {
    const files = [await signedBy("k0"), await signedBy("k6")];
    const flags = [...NUMBERS, "--no-auto-increment"];
    const ran = await svc(["tx", "multisign-batch", await batch(), "team", ...files, ...flags]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("couldn't verify signature");
    const all = await svc([
      ...["tx", "multisign-batch", await batch(), "team", ...files],
      ...[...flags, "--skip-signature-verification"],
    ]);
    const sequences = all.out.trimEnd().split("\n");
    expect(sequences.map((text) => JSON.parse(text).auth_info.signer_infos[0].sequence)).toEqual(["6", "6", "6"]);
  });

  test("a signature file with another number of lines", async () => {
    const [k0 = ""] = await shares();
    const ran = await svc(["tx", "multisign-batch", await batch(), "team", k0, ...NUMBERS]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("has 1 lines for 3 transactions");
  });

  test("--output-document, --signature-only and --overwrite of sign-batch hold for each line", async () => {
    const other = { mode_info: { single: { mode: "SIGN_MODE_DIRECT" } }, sequence: "9" };
    const lines = [1, 2].map((amount) => {
      const tx = JSON.parse(line(amount).replaceAll(team?.address ?? "", k0Address()));
      tx.auth_info.signer_infos.push({ public_key: OTHER_KEY, ...other });
      return JSON.stringify({ ...tx, signatures: ["AAAA"] });
    });
    const signed = await file("signed.jsonl", lines.join("\n"));
    const flags = ["--from", "k0", "--offline", "-a", "1", "-s", "7", ...CHAIN];
    const document = join(home, "document.jsonl");
    const run = async (...more: string[]) => {
      const ran = await svc(["tx", "sign-batch", signed, ...flags, "--output-document", document, ...more]);
      expect(ran).toEqual({ code: 0, out: "", err: "" });
      return (await readFile(document, "utf8")).trimEnd().split("\n");
    };
    const signatures = async (...more: string[]) =>
      (await run(...more)).map((text) => JSON.parse(text).signatures.length);
    expect(await signatures()).toEqual([2, 2]);
    expect(await signatures("--overwrite")).toEqual([1, 1]);
    const alone = (await run("--signature-only")).map((text) => JSON.parse(text));
    expect(alone.map((each) => Object.keys(each))).toEqual([["signatures"], ["signatures"]]);
    expect(alone.map(({ signatures: [{ sequence }] }) => sequence)).toEqual(["7", "8"]);
  });

  test("sign-batch writes nothing when a line cannot be signed", async () => {
    const other = line(4).replaceAll(team?.address ?? "", k0Address());
    const mixed = await file("mixed.jsonl", `${line(1)}${other}`);
    const document = join(home, "never.jsonl");
    const flags = ["--multisig", "team", "--from", "k0", "--output-document", document];
    const ran = await svc(["tx", "sign-batch", mixed, ...flags, ...NUMBERS]);
    expect(ran.err).toContain("tx intended signer does not match the given signer: k0");
    await expect(stat(document)).rejects.toThrow("ENOENT");
  });

  test("sign-batch of whole transactions from several files, and joined to one", async () => {
    const own = (amount: number) => line(amount).replaceAll(team?.address ?? "", k0Address());
    const files = [await file("1.jsonl", own(1) + own(2)), await file("2.jsonl", own(3))];
    const flags = ["--from", "k0", "--offline", "-a", "1", "-s", "7", ...CHAIN];
    const ran = await svc(["tx", "sign-batch", ...files, ...flags]);
    const txs = ran.out
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text));
    expect(txs.map((tx) => tx.auth_info.signer_infos[0].sequence)).toEqual(["7", "8", "9"]);
    const joined = await svc(["tx", "sign-batch", ...files, ...flags, "--append", "--memo", "all"]);
    const tx = JSON.parse(joined.out);
    expect(tx.body.messages).toHaveLength(3);
    expect(tx).toMatchObject({
      body: { memo: "all" },
      auth_info: { fee: { amount: [{ denom: "stake", amount: "3" }], gas_limit: "600000" } },
    });
    const signed = await file("joined.json", joined.out);
    expect((await svc(["tx", "validate-signatures", signed, ...flags.slice(2)])).code).toBe(0);
  });
});
