import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decryptItem } from "../../src/keyring/jwe.ts";
import { fromUtf8 } from "../../src/util/index.ts";
import { runCli } from "../cli/run.ts";
import { EmulatedDevice, serveTcp } from "../support/ledger/index.ts";
import { atNight, IS_NIGHT } from "../support/runs.ts";
import keyVectors from "../vectors/keys.json" with { type: "json" };
import { buildPeer, Peer, type PeerName } from "./peers.ts";

/** Keys, armors, signatures and encodings go back and forth between `svc` and both reference tools without a change. */

const PASSPHRASE = "keyring-pass-9";
/** The older tool opens the keyring several times in one command and asks each time. */
const PASSPHRASES = `${PASSPHRASE}\n`.repeat(6);
const MEMBERS = ["k0", "k5", "k6"];
const phrases = keyVectors.keys.filter(({ name }) => MEMBERS.includes(name));
const addressOf = (name: string) => keyVectors.keys.find((key) => key.name === name)?.address ?? "";
const team = keyVectors.multisig.find(({ name }) => name === "ms_sorted");

const root = mkdtempSync(join(tmpdir(), "svc-simd-"));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
function file(text: string): string {
  files += 1;
  const path = join(root, `file-${files}`);
  writeFileSync(path, text);
  return path;
}

/** Runs our command line for the reference tools' network; throws with its own words when it fails. */
async function svc(args: readonly string[], input = ""): Promise<string> {
  const { code, out, err } = await runCli(args, { input, env: { SVC_PROFILE: "cosmos", SVC_HOME: join(root, "svc") } });
  if (code !== 0) throw new Error(`svc ${args.join(" ")} ended with ${code}: ${err}${out}`);
  return out;
}

const keyring = (dir: string, backend = "test") => ["--keyring-dir", dir, "--keyring-backend", backend];

/** The phrase of the device that the reference tools pretend to have. */
const PRETENDED_PHRASE = "equip will roof matter pink blind book anxiety banner elbow sun young";

/** They print the mode of a device's signatures before the document. */
const afterNotice = (out: string) => out.replace(/^Default sign-mode .*\n/, "");

/** The stored record of the key `cold`, in hexadecimal. */
async function storedRecord(dir: string): Promise<string> {
  const text = readFileSync(join(dir, "keyring-test", "cold.info"), "utf8");
  return Buffer.from(JSON.parse(fromUtf8(await decryptItem(text, "test"))).Data, "base64").toString("hex");
}

/** The newer tool prints fields that the older one does not know; empty they mean nothing. */
const withoutNewer = (json: string) =>
  json.replace('"unordered":false,"timeout_timestamp":null,', "").replace(',"tip":null', "");

// Cold, a build takes minutes: a few for each tool.
const built = await Promise.all((["simd42", "simd53"] as const).map((name) => buildPeer(name)));
const peers = built.filter((peer) => peer instanceof Peer);
afterAll(() => {
  for (const peer of peers) peer.remove();
});

describe("the reference tools", () => {
  const missing = built.flatMap((peer) => (peer instanceof Peer ? [] : [peer.missing]));
  test.skipIf(missing.length > 0 && process.env.CI !== "true")(
    missing.length > 0 ? `cannot be had, interchange with them is not tested: ${missing.join("; ")}` : "are there",
    () => expect(missing).toEqual([]),
  );
});

function peerNamed(name: PeerName): Peer {
  const peer = peers.find((each) => each.name === name);
  if (peer === undefined) throw new Error(`${name} is not there`);
  return peer;
}

/** The older tool is tried at night. */
const tried = peers.filter(({ name }) => IS_NIGHT || name === "simd53");

describe.each(tried.map((peer) => [peer.name, peer] as const))("%s", (name, peer) => {
  const older = name === "simd42";
  /** The older tool has no such command: for it there is no test, rather than one that is skipped. */
  const forNewer = (title: string, work: () => Promise<void>): void => {
    if (!older) test(title, work);
  };
  const theirs = join(root, `${name}-test`);
  const ours = join(root, `svc-${name}`);

  beforeAll(async () => {
    for (const { name: key, mnemonic } of phrases) {
      await peer.ok(["keys", "add", key, "--recover", ...keyring(theirs)], { input: `${mnemonic}\n` });
      await svc(["keys", "add", key, "--recover", ...keyring(ours)], `${mnemonic}\n`);
    }
    const multisig = ["keys", "add", "team", "--multisig", MEMBERS.join(","), "--multisig-threshold", "2"];
    await peer.ok([...multisig, ...keyring(theirs)]);
    await svc([...multisig, ...keyring(ours)]);
  });

  /** Output of both sides about a key, in a common form. */
  const identities = (json: string) =>
    (JSON.parse(json) as { name: string; type: string; address: string }[]).map(({ name: key, type, address }) => ({
      key,
      type,
      address,
    }));
  const list = (dir: string, backend: string) => ["keys", "list", "--output", "json", ...keyring(dir, backend)];

  test("a directory of the back end test that it wrote opens in ours", async () => {
    const seen = identities(await svc(list(theirs, "test")));
    expect(seen).toEqual(identities(await peer.ok(list(theirs, "test"))));
    expect(seen.map(({ type }) => type)).toEqual(["local", "local", "local", "multi"]);
    expect(seen.at(-1)?.address).toBe(team?.address);
    const hex = ["keys", "export", "k5", "--unarmored-hex", "--unsafe", ...keyring(theirs)];
    expect(await svc(hex, "y\n")).toBe(await peer.ok(hex, { input: "y\n" }));
  });

  test("a directory of the back end test that we wrote opens in it", async () => {
    if (older) await svc(["keys", "migrate", "--to", "amino", ...keyring(ours)]);
    const seen = identities(await peer.ok(list(ours, "test")));
    expect(seen).toEqual(identities(await svc(list(ours, "test"))));
    expect(seen).toHaveLength(4);
    const hex = ["keys", "export", "k6", "--unarmored-hex", "--unsafe", ...keyring(ours)];
    expect(await peer.ok(hex, { input: "y\n" })).toBe(await svc(hex, "y\n"));
  });

  test("public keys alone, both ways", async () => {
    const pubkeyOf = async (key: string, format: string) =>
      (await svc(["keys", "show", key, "-p", "--pubkey-format", format, ...keyring(ours)])).trim();
    const text = await pubkeyOf("k0", older ? "bech32" : "json");
    const [watchTheirs, watchOurs] = [join(root, `${name}-watch`), join(root, `svc-${name}-watch`)];
    await peer.ok(["keys", "add", "watch", "--pubkey", text, ...keyring(watchTheirs)]);
    await svc(["keys", "add", "watch", "--pubkey", text, ...keyring(watchOurs)]);
    if (older) await svc(["keys", "migrate", "--to", "amino", ...keyring(watchOurs)]);
    const expected = [{ key: "watch", type: "offline", address: addressOf("k0") }];
    for (const dir of [watchTheirs, watchOurs]) {
      expect(identities(await svc(list(dir, "test")))).toEqual(expected);
      expect(identities(await peer.ok(list(dir, "test")))).toEqual(expected);
    }
  });

  test("directories of the back end file, both ways, each with a key of the other added", async () => {
    const [first, second] = phrases;
    const dirs = { theirs: join(root, `${name}-file`), ours: join(root, `svc-${name}-file`) };
    const add = (key: string, dir: string) => ["keys", "add", key, "--recover", ...keyring(dir, "file")];
    await peer.ok(add("k0", dirs.theirs), { input: `${first?.mnemonic}\n${PASSPHRASES}` });
    await svc(add("k0", dirs.ours), `${first?.mnemonic}\n${PASSPHRASE}\n${PASSPHRASE}\n`);
    if (older) await svc(["keys", "migrate", "--to", "amino", ...keyring(dirs.ours, "file")], `${PASSPHRASE}\n`);
    await svc(add("k5", dirs.theirs), `${second?.mnemonic}\n${PASSPHRASE}\n`);
    if (older) await svc(["keys", "migrate", "--to", "amino", ...keyring(dirs.theirs, "file")], `${PASSPHRASE}\n`);
    await peer.ok(add("k5", dirs.ours), { input: `${second?.mnemonic}\n${PASSPHRASES}` });
    for (const dir of Object.values(dirs)) {
      const seen = identities(await svc(list(dir, "file"), `${PASSPHRASE}\n`));
      expect(seen.map(({ address }) => address)).toEqual([addressOf("k0"), addressOf("k5")]);
      expect(identities(await peer.ok(list(dir, "file"), { input: PASSPHRASES }))).toEqual(seen);
      const wrong = await peer.run(["keys", "show", "k0", "-a", ...keyring(dir, "file")], {
        input: "wrong-one\n".repeat(6),
      });
      expect(wrong.code).not.toBe(0);
    }
  });

  atNight(() =>
    test("a directory of the back end file with the stronger derivation opens in it", async () => {
      const dir = keyring(join(root, `svc-${name}-strong`), "file");
      const [first] = phrases;
      const strong = ["keys", "add", "k0", "--recover", "--keyring-kdf", "strong", ...dir];
      await svc(strong, `${first?.mnemonic}\n${PASSPHRASE}\n${PASSPHRASE}\n`);
      if (older) await svc(["keys", "migrate", "--to", "amino", "--keyring-kdf", "strong", ...dir], `${PASSPHRASE}\n`);
      const shown = await peer.ok(["keys", "show", "k0", "-a", ...dir], { input: PASSPHRASES });
      expect(shown).toBe(`${addressOf("k0")}\n`);
    }),
  );

  test("armors, both ways", async () => {
    const [keys, target] = [keyring(theirs), keyring(join(root, `${name}-armor`))];
    const fromIt = file(await peer.ok(["keys", "export", "k0", ...keys], { input: "exportpw-123\n" }));
    const fromUs = file(await svc(["keys", "export", "k5", ...keyring(ours)], "exportpw-123\n"));
    await svc(["keys", "import", "a", fromIt, ...target], "exportpw-123\n");
    const hex = (key: string, dir: readonly string[]) => ["keys", "export", key, "--unarmored-hex", "--unsafe", ...dir];
    expect(await svc(hex("a", target), "y\n")).toBe(await peer.ok(hex("k0", keys), { input: "y\n" }));
    const other = keyring(join(root, `${name}-imported`));
    await peer.ok(["keys", "import", "b", fromUs, ...other], { input: "exportpw-123\n" });
    expect(await peer.ok(hex("b", other), { input: "y\n" })).toBe(await svc(hex("k5", keyring(ours)), "y\n"));
  });

  atNight(() =>
    test("keys whose names have slashes, backslashes and percent signs, both ways", async () => {
      const names = ["a/b", "a\\b", "a%b", "a%2Fb", "sub/..x/y"];
      const dirs = [join(root, `${name}-names`), join(root, `svc-${name}-names`)] as const;
      for (const key of [...names, ".", "..", "../x", "/abs"]) await peer.ok(["keys", "add", key, ...keyring(dirs[0])]);
      for (const key of names) await svc(["keys", "add", key, ...keyring(dirs[1])]);
      if (older) await svc(["keys", "migrate", "--to", "amino", ...keyring(dirs[1])]);
      for (const dir of dirs) {
        const seen = identities(await svc(list(dir, "test")));
        expect(identities(await peer.ok(list(dir, "test")))).toEqual(expect.arrayContaining(seen));
        expect(seen).toHaveLength(dir === dirs[0] ? names.length + 4 : names.length);
        for (const { key, address } of seen) {
          for (const word of [key, address]) {
            const show = ["keys", "show", word, "-a", ...keyring(dir)];
            expect([await svc(show), await peer.ok(show)]).toEqual([`${address}\n`, `${address}\n`]);
          }
        }
      }
    }),
  );

  atNight(() =>
    test("white space at the ends of a piped passphrase is dropped by both: file keyrings and armors, both ways", async () => {
      const [padded, other] = [` \u2003${PASSPHRASE}\t \n`, `\u0085${PASSPHRASE}  \r\n`];
      const dirs = [join(root, `${name}-spaces`), join(root, `svc-${name}-spaces`)] as const;
      const add = (dir: string) => ["keys", "add", "k0", "--recover", ...keyring(dir, "file")];
      const phrase = `${phrases[0]?.mnemonic}\n`;
      await peer.ok(add(dirs[0]), { input: phrase + padded.repeat(6) });
      await svc(add(dirs[1]), phrase + padded + other);
      if (older) await svc(["keys", "migrate", "--to", "amino", ...keyring(dirs[1], "file")], padded);
      for (const dir of dirs) {
        const show = ["keys", "show", "k0", "-a", ...keyring(dir, "file")];
        for (const line of [padded, other, `${PASSPHRASE}\n`]) {
          expect(await svc(show, line)).toBe(`${addressOf("k0")}\n`);
          expect(await peer.ok(show, { input: line.repeat(6) })).toBe(`${addressOf("k0")}\n`);
        }
      }
      const export0 = ["keys", "export", "k0"];
      const armors = [
        file(await peer.ok([...export0, ...keyring(theirs)], { input: padded })),
        file(await svc([...export0, ...keyring(ours)], padded)),
      ];
      for (const [i, armor] of armors.entries()) {
        for (const [j, line] of [other, `${PASSPHRASE}\n`].entries()) {
          const dir = (tool: string) => keyring(join(root, `${name}-spaces-${tool}-${i}-${j}`));
          await svc(["keys", "import", "a", armor, ...dir("svc")], line);
          await peer.ok(["keys", "import", "a", armor, ...dir("peer")], { input: line });
        }
      }
    }),
  );

  test("white space at the ends of the passphrase of a phrase makes no other key", async () => {
    const line = "  two words\u00a0 \n";
    const input = `${phrases[0]?.mnemonic}\n${line}${line}`;
    const add = ["keys", "add", "n", "--interactive"];
    await svc([...add, ...keyring(join(root, `svc-${name}-bip39`))], input);
    const show = ["keys", "show", "n", "-a", ...keyring(join(root, `${name}-bip39`))];
    await peer.ok([...add, ...keyring(join(root, `${name}-bip39`))], { input });
    expect(await peer.ok(show)).toBe(
      await svc(["keys", "show", "n", "-a", ...keyring(join(root, `svc-${name}-bip39`))]),
    );
  });

  /** The unsigned transaction of a transfer, as each side generates it. */
  async function unsigned(from: string): Promise<string> {
    const args = ["tx", "bank", "send", from, addressOf("k5"), "7stake,1234uvec", "--generate-only"];
    const common = [...args, "--fees", "500stake", "--gas", "90000", older ? "--memo" : "--note", 'hi <&> "q" é'];
    const chainId = ["--chain-id", "vec-1"];
    const own = older ? chainId : ["--offline", "-a", "1", "-s", "1"];
    const generated = await peer.ok([...common, ...own, ...keyring(theirs)]);
    expect(await svc([...common, ...chainId])).toBe(withoutNewer(generated));
    return file(generated);
  }
  const NUMBERS = ["--offline", "-a", "12", "-s", "34", "--chain-id", "vec-1"];

  test.each(["direct", "amino-json"])("signatures of mode %s and their encodings have the same bytes", async (mode) => {
    const path = await unsigned(addressOf("k0"));
    const sign = ["tx", "sign", path, "--from", "k0", "--sign-mode", mode, ...NUMBERS];
    const signed = await peer.ok([...sign, ...keyring(theirs)]);
    expect(await svc([...sign, ...keyring(ours)])).toBe(withoutNewer(signed));
    const alone = [...sign, "--signature-only"];
    expect(await svc([...alone, ...keyring(ours)])).toBe(await peer.ok([...alone, ...keyring(theirs)]));
    const [theirFile, ourFile] = [file(signed), file(withoutNewer(signed))];
    const bytes = await peer.ok(["tx", "encode", theirFile]);
    expect(await svc(["tx", "encode", theirFile])).toBe(bytes);
    expect(await peer.ok(["tx", "encode", ourFile])).toBe(bytes);
    const decoded = await peer.ok(["tx", "decode", bytes.trim()]);
    expect((await svc(["tx", "decode", bytes.trim()])).trim()).toBe(withoutNewer(decoded).trim());
    const valid = ["tx", "validate-signatures", ourFile, ...NUMBERS];
    expect(await svc(valid)).toBe(await peer.ok([...valid, ...keyring(theirs)]));
  });

  forNewer("transactions without a sequence are signed the same", async () => {
    const address = addressOf("k0");
    const lasting = ["--unordered", "--timeout-duration", "5m", "--generate-only", "--chain-id", "vec-1"];
    const send = ["tx", "bank", "send", address, address, "5stake", ...lasting];
    const path = file(await peer.ok([...send, ...keyring(theirs)]));
    const numbers = ["--offline", "-a", "12", "-s", "0"];
    for (const mode of ["direct", "amino-json"]) {
      const sign = ["tx", "sign", path, "--from", "k0", "--sign-mode", mode, "--chain-id", "vec-1"];
      const signed = await peer.ok([...sign, ...numbers, ...keyring(theirs)]);
      expect(await svc([...sign, ...numbers, ...keyring(ours)])).toBe(withoutNewer(signed));
      const bytes = await peer.ok(["tx", "encode", file(signed)]);
      expect(await svc(["tx", "encode", file(signed)])).toBe(bytes);
      expect((await svc(["tx", "decode", bytes.trim()])).trim()).toBe(withoutNewer(signed).trim());
    }
  });

  forNewer("a grant without a limit has the same bytes on both, there and back", async () => {
    for (const kind of ["delegate", "unbond", "redelegate"]) {
      const grant = ["tx", "authz", "grant", addressOf("k5"), kind, "--from", addressOf("k0"), "--generate-only"];
      const limits = ["--allowed-validators", "cosmosvaloper1vqekc49ukm8gu5xsn7dwsdduqan5rjw07krqgf"];
      const theirGrant = await peer.ok([...grant, ...limits, "--chain-id", "vec-1", ...keyring(theirs)]);
      expect(theirGrant).toContain('"max_tokens":null');
      const bytes = await peer.ok(["tx", "encode", file(theirGrant)]);
      expect(await svc(["tx", "encode", file(theirGrant)])).toBe(bytes);
      const decoded = await svc(["tx", "decode", bytes.trim()]);
      expect(decoded.trim()).toBe(withoutNewer(await peer.ok(["tx", "decode", bytes.trim()])).trim());
      expect(await peer.ok(["tx", "encode", file(decoded)])).toBe(bytes);
      expect(JSON.parse(await svc([...grant, ...limits])).body.messages).toEqual(JSON.parse(theirGrant).body.messages);
    }
  });

  test("keys on a hardware device have the same records and signatures, whoever added them", async () => {
    const device = await serveTcp(new EmulatedDevice({ phrase: PRETENDED_PHRASE }));
    const [dirOfThem, dirOfUs] = [join(root, `${name}-device`), join(root, `svc-${name}-device`)];
    const add = ["keys", "add", "cold", "--ledger"];
    const way = ["--ledger-transport", device.url];
    await peer.ok([...add, ...keyring(dirOfThem)]);
    await svc([...add, ...way, ...keyring(dirOfUs)]);
    if (older) await svc(["keys", "migrate", "--to", "amino", ...keyring(dirOfUs)]);
    expect(await storedRecord(dirOfUs)).toBe(await storedRecord(dirOfThem));
    const [record] = identities(await peer.ok(list(dirOfThem, "test")));
    expect(record?.type).toBe("ledger");
    const path = await unsigned(record?.address ?? "");
    const sign = ["tx", "sign", path, "--from", "cold", ...NUMBERS];
    const signed = withoutNewer(afterNotice(await peer.ok([...sign, ...keyring(dirOfUs)])));
    for (const dir of [dirOfThem, dirOfUs]) {
      expect(identities(await svc(list(dir, "test")))).toEqual([record]);
      expect(identities(await peer.ok(list(dir, "test")))).toEqual([record]);
      expect(await svc([...sign, ...way, ...keyring(dir)])).toBe(signed);
    }
    await device.close();
  });

  test("a batch is signed the same", async () => {
    const path = await unsigned(addressOf("k0"));
    const batch = file(readFileSync(path, "utf8").repeat(3));
    const sign = ["tx", "sign-batch", batch, "--from", "k0", "--signature-only", ...NUMBERS];
    const signatures = await svc([...sign, ...keyring(ours)]);
    expect(signatures.trimEnd().split("\n")).toHaveLength(3);
    expect(signatures).toBe(await peer.ok([...sign, ...keyring(theirs)]));
  });

  test("a multisig of 2 of 3 with one signer on each tool, put together by either", async () => {
    const address = team?.address ?? "";
    const path = await unsigned(address);
    const share = (from: string) => ["tx", "sign", path, "--multisig", address, "--from", from, ...NUMBERS];
    const shares = [
      file(await peer.ok([...share("k0"), ...keyring(theirs)])),
      file(await svc([...share("k6"), ...keyring(ours)])),
    ];
    const combine = ["tx", "multisign", path, "team", ...shares, ...NUMBERS];
    const signed = await peer.ok([...combine, ...keyring(theirs)]);
    expect(await svc([...combine, ...keyring(ours)])).toBe(withoutNewer(signed));
    const bytes = await peer.ok(["tx", "encode", file(signed)]);
    expect(await svc(["tx", "encode", file(signed)])).toBe(bytes);
    const valid = ["tx", "validate-signatures", file(signed), ...NUMBERS];
    const verdict = await peer.ok([...valid, ...keyring(theirs)]);
    expect(await svc(valid)).toBe(verdict);
    expect(verdict).toContain("[OK]");
  });
});

test.skipIf(peers.length < 2)("a directory goes from the older tool through ours to the newer one", async () => {
  const dir = keyring(join(root, "through"));
  const [first] = phrases;
  await peerNamed("simd42").ok(["keys", "add", "k0", "--recover", ...dir], { input: `${first?.mnemonic}\n` });
  expect(await svc(["keys", "show", "k0", "-a", ...dir])).toBe(`${addressOf("k0")}\n`);
  await svc(["keys", "migrate", ...dir]);
  const { out, err } = await peerNamed("simd53").run(["keys", "show", "k0", "-a", ...dir]);
  expect([out, err]).toEqual([`${addressOf("k0")}\n`, ""]);
  expect((await peerNamed("simd42").run(["keys", "show", "k0", "-a", ...dir])).code).not.toBe(0);
});
