import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toHex } from "../../util/index.ts";
import { encodePem } from "../der.ts";
import { isSelfSigned, parseCertificate, parseCertificatePem, parsePublicKeyPem } from "./certificate.ts";
import { createCertificate } from "./create.ts";

const START = Date.UTC(2026, 0, 1);
const request = {
  address: "svc1exampleaddress",
  serial: 1_767_225_600_123_456_789n,
  notBefore: START,
  notAfter: START + 365 * 86_400_000,
  hosts: ["provider.example.org", "192.0.2.7"],
};
const server = await createCertificate(request, "pass");
const client = await createCertificate({ ...request, serial: 0x80n, hosts: [] }, "pass");

describe("new certificates", () => {
  test("a server's certificate as a TLS library sees it", () => {
    const cert = new X509Certificate(server.certificate);
    expect(cert.subject).toBe("CN=svc1exampleaddress\n2.23.133.2.6=v0.0.1");
    expect(cert.subjectAltName).toBe("DNS:provider.example.org, IP Address:192.0.2.7");
    expect(cert.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"]);
    expect(BigInt(`0x${cert.serialNumber}`)).toBe(request.serial);
    expect(cert.ca).toBe(false);
    expect(cert.checkHost("provider.example.org")).toBe("provider.example.org");
    expect(cert.verify(cert.publicKey)).toBe(true);
    expect(new Date(cert.validTo).getTime()).toBe(request.notAfter);
  });

  test("a client's certificate names no host", () => {
    const cert = new X509Certificate(client.certificate);
    expect(cert.subjectAltName).toBeUndefined();
    expect(cert.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(parseCertificatePem(client.certificate).serial).toBe("128");
  });

  test("the key is encrypted, opens with the passphrase alone and belongs to the certificate", () => {
    expect(server.encryptedKey).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    expect(() => createPrivateKey({ key: server.encryptedKey, passphrase: "wrong" })).toThrow();
    const key = createPrivateKey({ key: server.encryptedKey, passphrase: "pass" });
    expect(new X509Certificate(server.certificate).checkPrivateKey(key)).toBe(true);
    const spki = createPublicKey(key).export({ format: "der", type: "spki" });
    expect(toHex(parsePublicKeyPem(server.publicKey))).toBe(toHex(spki));
  });

  test.each([
    ["serial 0", { serial: 0n }, "serial number out of range"],
    ["a host with a space", { hosts: ["a b"] }, "neither a host name"],
    ["an end before the begin", { notAfter: START - 1 }, "ends before it begins"],
  ])("%s is refused", async (_, change, message) => {
    await expect(createCertificate({ ...request, ...change }, "pass")).rejects.toThrow(message);
  });
});

describe("reading certificates", () => {
  const parsed = parseCertificatePem(server.certificate);

  test("fields", () => {
    expect(parsed).toMatchObject({
      serial: request.serial.toString(),
      commonName: request.address,
      notBefore: request.notBefore / 1000,
      notAfter: request.notAfter / 1000,
    });
    expect(toHex(parsed.publicKey)).toBe(toHex(parsePublicKeyPem(server.publicKey)));
    expect(isSelfSigned(parsed)).toBe(true);
  });

  test("a certificate of another key is not self-signed", () => {
    expect(isSelfSigned({ ...parsed, publicKey: parsePublicKeyPem(client.publicKey) })).toBe(false);
  });

  test("bytes before, between and after the block, or another block, are refused", () => {
    const block = server.certificate;
    for (const bad of ["", `x${block}`, `${block}x`, block + block, `${block}\n`, encodePem("CERT", parsed.der)]) {
      expect(() => parseCertificatePem(bad)).toThrow('not exactly one PEM block "CERTIFICATE"');
    }
    expect(() => parseCertificatePem(encodePem("CERTIFICATE", Buffer.concat([parsed.der, Buffer.of(0)])))).toThrow(
      "DER",
    );
    expect(() => parsePublicKeyPem(encodePem("EC PUBLIC KEY", parsed.der))).toThrow("P-256");
  });

  test("no damaged byte makes a certificate that is still genuine, and none breaks the reader", () => {
    fc.assert(
      fc.property(fc.nat(parsed.der.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const bad = Uint8Array.from(parsed.der, (byte, i) => (i === at ? byte ^ mask : byte));
        let genuine = false;
        try {
          genuine = isSelfSigned(parseCertificate(bad));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
        expect(genuine).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
