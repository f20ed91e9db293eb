import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cliChain } from "../../../../test/cli/chain.ts";
import { certificatePath, readCertificateFile } from "../../../certs/file.ts";
import { openCertificate } from "../../../certs/issue.ts";
import { certifiedHosts } from "../../../certs/plan.ts";
import { Flags } from "../../command/flags.ts";
import { createContext } from "../../context/context.ts";
import { signerOf } from "../../keys/signer.ts";
import { createIo } from "../../terminal/io.ts";

const NAMES = Array.from({ length: 13 }, (_, i) => `key${i}`);
const chain = await cliChain(...NAMES);
afterAll(() => chain.stop());

/** A key that no test has used yet. */
let name = "";
let address = "";
let path = "";
beforeEach(() => {
  name = NAMES.pop() ?? "no key is left";
  address = chain.addresses[name] ?? "";
  path = certificatePath(chain.home, address, "server");
});

const SEND = ["-y", "-b", "block", "--fees", "5000utoken"];
const create = (...words: string[]) =>
  chain.run(["tx", "cert", "create", "server", "provider.example.com", "--from", name, ...SEND, ...words]);
const serial = async (file = path): Promise<string> => (await readCertificateFile(file))?.details.serial ?? "none";
const onChain = async (state: string): Promise<string[]> => {
  const { certificates } = await chain.query("cert", "list", "--owner", address, "--state", state);
  return certificates.map((each: { serial: string }) => each.serial);
};

describe("tx cert create server", () => {
  test("makes, stores and publishes a certificate that the account key opens", async () => {
    const { code, out, err } = await create();
    expect(code).toBe(0);
    expect(JSON.parse(out).logs[0].events[0].attributes).toContainEqual({
      key: "action",
      value: "cert-create-certificate",
    });
    expect(err).toContain(`no certificate found for address ${address}. generating new...`);
    expect(err).toContain(`certificate saved in ${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(await onChain("valid")).toEqual([await serial()]);
    const context = createContext({
      io: createIo(),
      flags: new Flags(
        new Map([
          ["home", { value: chain.home, source: "flag" }],
          ["keyring-backend", { value: "test", source: "flag" }],
        ]),
      ),
    });
    const key = await (await context.keyring()).get(name);
    const signer = await signerOf(context, { address, key });
    const identity = await openCertificate({ home: chain.home, kind: "server", signer });
    expect(identity.privateKey).toContain("-----BEGIN PRIVATE KEY-----");
    expect(certifiedHosts(identity.certificate)).toEqual(["provider.example.com"]);
  });

  test("a second time there is nothing to do", async () => {
    await create();
    const before = await serial();
    const { code, out, err } = await create();
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/is on the chain and valid until \d{4}-\d\d-\d\d; nothing to do/);
    expect(await serial()).toBe(before);
  });

  test("--rie revokes it and makes a new one in the same transaction", async () => {
    await create();
    const before = await serial();
    const { out, err } = await create("--rie");
    expect(JSON.parse(out).logs).toHaveLength(2);
    expect(err).toContain(`revoking certificate ${before} and generating a new one`);
    expect(await onChain("revoked")).toEqual([before]);
    expect(await onChain("valid")).toEqual([await serial()]);
  });

  test("after a revocation it says so and makes a new one", async () => {
    await create();
    const before = await serial();
    expect((await chain.tx("cert", "revoke", "--from", name)).code).toBe(0);
    const { code, err } = await create();
    expect(code).toBe(0);
    expect(err).toContain(`certificate ${before} in ${path} was revoked on the chain. generating a new one`);
    expect(await onChain("valid")).toEqual([await serial()]);
  });

  test("other hosts need another certificate, IP addresses among them", async () => {
    await create();
    const hosts = ["other.example.com", "10.0.0.1", "2001:db8::1"];
    const { code, err } = await chain.run(["tx", "cert", "create", "server", ...hosts, "--from", name, ...SEND]);
    expect(code).toBe(0);
    expect(err).toContain("is for provider.example.com, not for other.example.com, 10.0.0.1, 2001:db8::1");
    expect(await onChain("valid")).toHaveLength(2);
    const again = await chain.run(["tx", "cert", "create", "server", ...hosts, "--from", name, ...SEND]);
    expect(again.err).toContain("nothing to do");
  });

  test("a file that is not on the chain is published", async () => {
    await chain.run(["tx", "cert", "create", "server", "provider.example.com", "--from", address, "--generate-only"], {
      input: "passphrase-1\npassphrase-1\n",
    });
    const made = await serial();
    const { code, err } = await create();
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toContain(`certificate ${made} in ${path} is not on the chain yet. publishing it`);
    expect(await onChain("valid")).toEqual([made]);
  });

  test("a refused transaction leaves the old file alone", async () => {
    await create();
    const before = readFileSync(path, "utf8");
    const argv = [
      "tx",
      "cert",
      "create",
      "server",
      "provider.example.com",
      "--rie",
      "--from",
      name,
      "-y",
      "-b",
      "block",
    ];
    expect((await chain.run(argv)).code).toBe(1);
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(existsSync(`${path}.new`)).toBe(false);
    await chain.run(
      argv.filter((word) => word !== "-y"),
      { input: "n\n" },
    );
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("a file of an interrupted run takes its place", async () => {
    await create();
    const made = await serial();
    renameSync(path, `${path}.new`);
    const { err } = await create();
    expect(err).toContain(`certificate ${made} of an earlier run is now ${path}`);
    expect(err).toContain("nothing to do");
  });

  test("--nbf and --naf set the dates", async () => {
    await create("--nbf", "2030-01-01T00:00:00Z", "--naf", "10d");
    const { notBefore, notAfter } = (await readCertificateFile(path))?.details ?? {};
    expect([notBefore, notAfter]).toEqual([Date.UTC(2030, 0, 1) / 1000, Date.UTC(2030, 0, 11) / 1000]);
  });
});

describe("tx cert, elsewhere", () => {
  test("--dry-run writes nothing", async () => {
    const { code, err } = await chain.run(["tx", "cert", "create", "client", "--from", name, "--dry-run"]);
    expect(code).toBe(0);
    expect(err).toMatch(/gas estimate: \d+/);
    expect(existsSync(certificatePath(chain.home, address, "client"))).toBe(false);
  });

  test.each([
    ["client", []],
    ["server", ["provider.example.com"]],
  ] as const)("--to-genesis puts that of a %s into the genesis file of the home", async (kind, hosts) => {
    const genesis = join(chain.home, "config", "genesis.json");
    const before = readFileSync(genesis, "utf8");
    const { code, err } = await chain.run(["tx", "cert", "create", kind, ...hosts, "--from", name, "--to-genesis"]);
    const { certificates } = JSON.parse(readFileSync(genesis, "utf8")).app_state.cert;
    writeFileSync(genesis, before);
    expect({ code, entries: certificates.length }).toEqual({ code: 0, entries: 1 });
    expect(err).toContain(`added to ${genesis}`);
    const file = await readCertificateFile(certificatePath(chain.home, address, kind));
    expect(Buffer.from(certificates[0].certificate.cert, "base64").toString()).toBe(file?.certificate);
    expect(certificates[0]).toMatchObject({ owner: address, certificate: { state: "valid" } });
  });

  test("damaged and open files are refused", async () => {
    const file = certificatePath(chain.home, address, "client");
    await chain.run(["tx", "cert", "create", "client", "--from", name, ...SEND]);
    const run = () => chain.run(["tx", "cert", "create", "client", "--from", name, ...SEND]);
    chmodSync(file, 0o644);
    expect((await run()).err).toContain(`run: chmod 600 ${file}`);
    chmodSync(file, 0o600);
    writeFileSync(file, "nonsense");
    const { code, out, err } = await run();
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(`certificate file ${file}: it does not hold a certificate and its encrypted key`);
  });
});
