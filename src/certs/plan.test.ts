import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signSecp256k1 } from "../crypto/index.ts";
import { encodeAddress } from "../wire/index.ts";
import { type CertificateFile, certificatePath, readCertificateFile, writeCertificateFile } from "./file.ts";
import {
  certificatePassphrase,
  issueCertificate,
  makeCertificate,
  openCertificate,
  unlockCertificate,
} from "./issue.ts";
import { type CertificateFacts, certifiedHosts, planCertificate } from "./plan.ts";

const home = mkdtempSync(join(tmpdir(), "svc-cert-"));
afterAll(() => rmSync(home, { recursive: true }));

const address = encodeAddress(new Uint8Array(20).fill(3));
const key = new Uint8Array(32).fill(7);
const signer = { address, sign: async (bytes: Uint8Array) => signSecp256k1(key, bytes) };
const HOSTS = ["provider.example.com", "10.0.0.1", "2001:db8::1"];
const DAY = 24 * 3600;

let file: CertificateFile;
beforeAll(async () => {
  await issueCertificate({ home, kind: "server", signer, hosts: HOSTS });
  const found = await readCertificateFile(certificatePath(home, address, "server"));
  if (found === undefined) throw new Error("no file was written");
  file = found;
});

function plan(facts: Partial<CertificateFacts>) {
  const now = Date.now() / 1000;
  return planCertificate({ address, file, record: "valid", hosts: HOSTS, replace: false, now, ...facts });
}

describe("what is done for a certificate", () => {
  test.each<[string, Partial<CertificateFacts>, string, string]>([
    ["nothing is there", { file: undefined }, "new", "no certificate found for address svc1"],
    ["all is well", {}, "keep", "is on the chain and valid until"],
    [
      "hosts in another order and spelling",
      { hosts: ["2001:DB8:0::1", "10.0.0.1", "Provider.Example.COM"] },
      "keep",
      "nothing to do",
    ],
    ["the chain does not know it", { record: "missing" }, "publish", "is not on the chain yet"],
    ["it was revoked", { record: "revoked" }, "new", "was revoked on the chain"],
    ["the chain has another", { record: "other" }, "new", "differs from the one with that number"],
    ["it has expired", { now: Date.now() / 1000 + 366 * DAY }, "new", "has expired on"],
    ["it has expired unpublished", { record: "missing", now: Date.now() / 1000 + 366 * DAY }, "new", "has expired on"],
    ["it is for other hosts", { hosts: ["a.example"] }, "new", "not for a.example"],
    ["it is a server's", { hosts: [] }, "new", "not for a client"],
    ["it is to be replaced", { replace: true }, "new", "revoking certificate"],
  ])("when %s", (_, facts, kind, say) => {
    const made = plan(facts);
    expect(made.kind).toBe(kind);
    expect(made.say).toContain(say);
  });

  test("only a valid one is revoked when it is replaced", () => {
    expect(plan({ replace: true })).toMatchObject({ revoke: file.details.serial });
    expect(plan({ replace: true, hosts: ["a.example"] })).toMatchObject({ revoke: file.details.serial });
    expect(plan({ replace: true, record: "revoked" })).not.toHaveProperty("revoke");
    expect(plan({ replace: true, record: "missing" }).kind).toBe("publish");
  });
});

describe("a stored certificate", () => {
  test("names its hosts", () =>
    expect(certifiedHosts(file.certificate).map((host) => host.toLowerCase())).toHaveLength(3));

  test("opens with the account key alone", async () => {
    const { certificate, privateKey } = await openCertificate({ home, kind: "server", signer });
    expect(certificate).toBe(file.certificate);
    expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(() => unlockCertificate(file, "something else")).toThrow("its private key cannot be decrypted");
    expect(file.encryptedKey).not.toContain(await certificatePassphrase(signer));
  });

  test("is reported as missing with the command that makes it", async () => {
    await expect(openCertificate({ home, kind: "client", signer })).rejects.toMatchObject({
      message: expect.stringContaining("there is no client certificate of svc1"),
      hint: expect.stringContaining("svc tx cert create client --from"),
    });
  });

  test("is never half replaced", async () => {
    const path = certificatePath(home, address, "client");
    for (const serial of [1, 2]) {
      const made = await makeCertificate({ address, hosts: [] }, `passphrase ${serial}`);
      await writeCertificateFile(path, made);
      expect((await readCertificateFile(path))?.certificate).toBe(made.certificate);
    }
  });
});
