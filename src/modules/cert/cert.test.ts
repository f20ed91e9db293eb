import { generateKeyPairSync } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { emptyContext, forgeCertificate, newP256Key, walkPages } from "../../../test/support/chain/index.ts";
import { genesisProblems, standardModules } from "../../app/index.ts";
import { createCertificate, decodePem, encodePem } from "../../crypto/index.ts";
import { brokenInvariants } from "../../runtime/index.ts";
import { type TestChain, testChain, testKey } from "../../testing/index.ts";
import { concatBytes, fromHex, fromUtf8, toBase64, toHex, toUtf8 } from "../../util/index.ts";
import {
  type Certificate,
  Certificate_State,
  CertificateSchema,
  MsgCreateCertificateResponseSchema,
  MsgCreateCertificateSchema,
  MsgRevokeCertificateSchema,
  Query,
  type QueryCertificatesResponse,
} from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { certModule } from "./index.ts";

type Published = Pick<Certificate, "cert" | "pubkey">;

/** A certificate as the command line makes it for an account. */
async function issue(address: string, serial: bigint): Promise<Published> {
  const notBefore = Date.UTC(2026, 0, 1);
  const request = { address, serial, notBefore, notAfter: notBefore + 86_400_000, hosts: [] };
  const { certificate, publicKey } = await createCertificate(request, "pass");
  return { cert: toUtf8(certificate), pubkey: toUtf8(publicKey) };
}

const alice = testKey("alice");
const bob = testKey("bob");
const SERIAL = 1_767_225_600_123_456_789n;
const first = await issue(alice.address, SERIAL);
const second = await issue(alice.address, 0x80n);
const third = await issue(alice.address, 5n);
const ofBob = await issue(bob.address, SERIAL);

function publish(chain: TestChain, { cert, pubkey }: Published, key = alice) {
  return chain.send(create(MsgCreateCertificateSchema, { owner: key.address, cert, pubkey }), { from: key });
}

function revoke(chain: TestChain, serial: string, key = alice) {
  return chain.send(create(MsgRevokeCertificateSchema, { id: { owner: key.address, serial } }), { from: key });
}

/** A chain on which everything is published and one of alice's certificates is revoked. */
function published(): TestChain {
  const chain = testChain();
  for (const each of [first, second, third]) expect(publish(chain, each).code).toBe(0);
  expect(publish(chain, ofBob, bob).code).toBe(0);
  expect(revoke(chain, "128").code).toBe(0);
  return chain;
}

function list(chain: TestChain, request: MessageInitShape<typeof Query.method.certificates.input>) {
  return chain.query(Query.method.certificates, request);
}

function serials(chain: TestChain, filter: MessageInitShape<typeof Query.method.certificates.input>["filter"]) {
  return list(chain, filter === undefined ? {} : { filter }).certificates.map(({ serial }) => serial);
}

describe("MsgCreateCertificate", () => {
  test("publishes a certificate, answers with its id and emits an event", () => {
    const chain = testChain();
    const sent = publish(chain, first);
    expect(sent).toMatchObject({ code: 0 });
    const id = { owner: alice.address, serial: SERIAL.toString() };
    expect(sent.response(MsgCreateCertificateResponseSchema).id).toMatchObject(id);
    const told = sent.logs[0]?.events.map(({ type, attributes }) => [
      type,
      attributes.map(({ key, value }) => [key, value]),
    ]);
    expect(told).toContainEqual([
      "svc.v1",
      [
        ["module", "cert"],
        ["action", "certificate-created"],
        ["owner", alice.address],
        ["serial", SERIAL.toString()],
      ],
    ]);
    expect(told?.[0]?.[0]).toBe("message");
    expect(told?.[0]?.[1]).toContainEqual(["action", "cert-create-certificate"]);
    expect(list(chain, {}).certificates).toMatchObject([
      { serial: SERIAL.toString(), certificate: { state: Certificate_State.valid } },
    ]);
    expect(fromUtf8(list(chain, {}).certificates[0]?.certificate?.cert ?? new Uint8Array())).toBe(fromUtf8(first.cert));
    expect(sent.gasUsed).toBeGreaterThan(80_000n);
    expect(sent.gasUsed).toBeLessThan(200_000n);
  });

  test("an account has as many as it likes, others may use the same serial number", () => {
    const chain = published();
    expect(serials(chain, { owner: alice.address })).toEqual(["5", "128", SERIAL.toString()]);
    expect(serials(chain, { owner: bob.address })).toEqual([SERIAL.toString()]);
  });

  const name = alice.address;
  const withSerial = (serial: string) => forgeCertificate({ name, serial });
  /** Writes bytes into the name that no text has. */
  const withBytes = (name: string, bytes: string): Published => {
    const { cert, pubkey } = forgeCertificate({ name });
    const hex = toHex(decodePem("CERTIFICATE", cert)).replaceAll(toHex(toUtf8(name)), bytes);
    return { cert: toUtf8(encodePem("CERTIFICATE", fromHex(hex))), pubkey };
  };
  const derOf = ({ cert }: Published) => decodePem("CERTIFICATE", cert);
  const grown = (size: number) => concatBytes(first.cert, new Uint8Array(size - first.cert.length).fill(0x0a));
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey;

  test.each<[string, Published, number, RegExp]>([
    ["another's name", ofBob, 6, new RegExp(`common name ${bob.address} is not the owner ${alice.address}: invalid c`)],
    ["a name that is not an address", forgeCertificate({ name: "alice" }), 6, /invalid Bech32 prefix/],
    ["an empty name", forgeCertificate({ name: "" }), 6, /empty address/],
    ["a name in capitals", forgeCertificate({ name: name.toUpperCase() }), 6, /invalid certificate value/],
    ["a name that is not text", withBytes("\u00e9", "fffe"), 6, /^certificate: common name is not UTF-8: inv/],
    ["a key that is not in it", { ...first, pubkey: second.pubkey }, 7, /it is not the key in the certificate/],
    ["another's signature", forgeCertificate({ name, signer: newP256Key() }), 6, /not signed by its own key/],
    ["a key of another curve", forgeCertificate({ name, key: p384 }), 7, /P-256/],
    ["another curve behind a good key", { ...first, cert: forgeCertificate({ name, key: p384 }).cert }, 6, /P-256/],
    ["the serial number 0", withSerial("00"), 5, /"0": invalid serial number/],
    ["a negative serial number", withSerial("85"), 5, /"-123": invalid serial number/],
    ["the serial number 2^160", withSerial(`01${"00".repeat(20)}`), 5, /invalid serial number/],
    ["a serial number of 200 bytes", withSerial("7f".repeat(200)), 5, /^.{0,200}: invalid serial number/],
    ["a serial number written too long", withSerial("0005"), 6, /shortest form/],
    ["no certificate", { ...first, cert: new Uint8Array() }, 6, /not exactly one PEM block "CERTIFICATE"/],
    ["no key", { ...first, pubkey: new Uint8Array() }, 7, /not exactly one PEM block "EC PUBLIC KEY"/],
    ["two certificates", { ...first, cert: concatBytes(first.cert, second.cert) }, 6, /not exactly one PEM block/],
    ["two keys", { ...first, pubkey: concatBytes(first.pubkey, first.pubkey) }, 7, /not exactly one PEM block/],
    ["text behind the certificate", { ...first, cert: concatBytes(first.cert, toUtf8("x")) }, 6, /not exactly one/],
    ["text before the key", { ...first, pubkey: concatBytes(toUtf8("x\n"), first.pubkey) }, 7, /not exactly one/],
    ["a certificate in place of the key", { ...first, pubkey: first.cert }, 7, /not exactly one PEM block/],
    [
      "a byte behind the certificate inside its block",
      { ...first, cert: toUtf8(encodePem("CERTIFICATE", concatBytes(derOf(first), Uint8Array.of(0)))) },
      6,
      /bytes after the end/,
    ],
    ["a block that is too large", { ...first, cert: grown(8193) }, 9, /more than 8192 bytes: invalid key size/],
    ["a key block that is too large", { ...first, pubkey: grown(8193) }, 9, /more than 8192 bytes/],
    ["a block of the largest size that is none", { ...first, cert: grown(8192) }, 6, /not exactly one PEM block/],
  ])("refuses %s", (_name, bad, code, text) => {
    const chain = testChain();
    const sent = publish(chain, bad);
    expect(sent).toMatchObject({ codespace: "cert", code, log: expect.stringMatching(text) });
    expect(sent.log.length).toBeLessThan(400);
    expect(serials(chain, undefined)).toEqual([]);
  });

  test("has its signature verified once the fee is paid, and not before", () => {
    const chain = testChain();
    const { cert, pubkey } = forgeCertificate({ name: alice.address, signer: newP256Key() });
    const message = create(MsgCreateCertificateSchema, { owner: alice.address, cert, pubkey });
    const tx = chain.sign(message, { from: alice });
    expect(chain.app.checkTx({ tx, kind: "new" }).code).toBe(0);
    expect(chain.block([tx])[0]).toMatchObject({ codespace: "cert", code: 6 });
  });

  test("takes the largest serial number of 20 bytes", () => {
    const chain = testChain();
    expect(publish(chain, withSerial(`00${"ff".repeat(20)}`)).code).toBe(0);
    expect(publish(chain, withSerial("01")).code).toBe(0);
    expect(serials(chain, undefined)).toEqual(["1", (2n ** 160n - 1n).toString()]);
    expect(revoke(chain, (2n ** 160n - 1n).toString()).code).toBe(0);
  });

  test("refuses a serial number that exists, also a revoked one, also with another key", () => {
    const chain = testChain();
    publish(chain, third);
    const exists = { codespace: "cert", code: 3, log: expect.stringMatching(`${name}/5: certificate exists`) };
    expect(publish(chain, third)).toMatchObject(exists);
    revoke(chain, "5");
    expect(publish(chain, third)).toMatchObject(exists);
    expect(publish(chain, withSerial("05"))).toMatchObject(exists);
  });

  test.each(["", "alice", "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6"])('refuses the owner "%s"', (owner) => {
    const message = create(MsgCreateCertificateSchema, { owner, ...first });
    expect(testChain().send(message, { from: alice })).toMatchObject({ codespace: "cert", code: 2 });
  });

  test("must be signed by the owner", () => {
    const message = create(MsgCreateCertificateSchema, { owner: alice.address, ...first });
    expect(testChain().send(message, { from: bob })).toMatchObject({ codespace: "sdk" });
  });
});

describe("MsgRevokeCertificate", () => {
  test("is permanent and emits an event", () => {
    const chain = testChain();
    publish(chain, first);
    const { code, logs } = revoke(chain, SERIAL.toString());
    expect(code).toBe(0);
    expect(logs[0]?.events.find(({ type }) => type === "svc.v1")?.attributes).toEqual([
      { key: "module", value: "cert" },
      { key: "action", value: "certificate-revoked" },
      { key: "owner", value: alice.address },
      { key: "serial", value: SERIAL.toString() },
    ]);
    expect(list(chain, {}).certificates).toMatchObject([{ certificate: { state: Certificate_State.revoked } }]);
    expect(revoke(chain, SERIAL.toString())).toMatchObject({ codespace: "cert", code: 4 });
  });

  test.each<[string, string, number]>([
    ["unknown", "77", 1],
    ["empty", "", 5],
    ["zero", "0", 5],
    ["negative", "-5", 5],
    ["hexadecimal", "0x5", 5],
    ["2^160", (2n ** 160n).toString(), 5],
    ["endless", "9".repeat(100_000), 5],
  ])("refuses a serial number that is %s", (_name, serial, code) => {
    const chain = testChain();
    publish(chain, third);
    const sent = revoke(chain, serial);
    expect(sent).toMatchObject({ codespace: "cert", code });
    expect(sent.log.length).toBeLessThan(200);
  });

  test("reaches one's own certificates only", () => {
    const chain = testChain();
    publish(chain, third);
    expect(revoke(chain, "5", bob)).toMatchObject({ codespace: "cert", code: 1 });
    const message = create(MsgRevokeCertificateSchema, { id: { owner: alice.address, serial: "5" } });
    expect(chain.send(message, { from: bob })).toMatchObject({ codespace: "sdk" });
    expect(serials(chain, { state: "valid" })).toEqual(["5"]);
  });

  test.each([{ owner: "alice", serial: "5" }, undefined])("refuses the id %j", (id) => {
    const message = create(MsgRevokeCertificateSchema, id === undefined ? {} : { id });
    expect(testChain().send(message, { from: alice })).toMatchObject({ codespace: "cert", code: 2 });
  });
});

describe("the query of certificates", () => {
  const chain = published();
  const owner = alice.address;
  const large = SERIAL.toString();

  test.each<[object, readonly string[]]>([
    [{}, [large, large, "128", "5"]],
    [{ state: "valid" }, [large, large, "5"]],
    [{ state: "revoked" }, ["128"]],
    [{ owner }, [large, "128", "5"]],
    [{ owner, state: "valid" }, [large, "5"]],
    [{ owner, state: "revoked" }, ["128"]],
    [{ owner: bob.address, state: "revoked" }, []],
    [{ owner: testKey("nobody").address }, []],
    [{ owner, serial: "128" }, ["128"]],
    [{ owner, serial: "128", state: "revoked" }, ["128"]],
    [{ owner, serial: "128", state: "valid" }, []],
  ])("filters by %j", (filter, expected) => {
    expect(serials(chain, filter).toSorted()).toEqual(expected.toSorted());
  });

  test.each<[object, RegExp]>([
    [{ owner, serial: "6" }, /certificate not found/],
    [{ serial: "5" }, /a serial number needs its owner: invalid serial number/],
    [{ owner, serial: "five" }, /"five": invalid serial number/],
    [{ state: "expired" }, /"expired": write valid or revoked: invalid state/],
    [{ owner, serial: "5", state: "expired" }, /"expired": write valid or revoked: invalid state/],
    [{ owner: "alice" }, /invalid address/],
    [{ owner: "alice", serial: "5" }, /invalid address/],
  ])("refuses %j", (filter, text) => {
    expect(() => list(chain, { filter })).toThrow(text);
  });

  test.each<[string, object]>([
    ["all", {}],
    ["of an owner", { owner }],
    ["by state", { state: "valid" }],
    ["of an owner by state", { owner, state: "valid" }],
  ])("%s comes in pages, forwards and backwards", (_name, filter) => {
    const all = serials(chain, filter);
    expect(all.length).toBeGreaterThan(1);
    const ask = (pagination: object) => list(chain, { filter, pagination });
    const rowsOf = ({ certificates }: QueryCertificatesResponse) => certificates.map(({ serial }) => serial);
    expect(walkPages(ask, rowsOf)).toEqual(all);
    expect(walkPages(ask, rowsOf, { reverse: true })).toEqual(all.toReversed());
    const counted = list(chain, { filter, pagination: { limit: 1n, countTotal: true } });
    expect(counted.pagination?.total).toBe(BigInt(all.length));
  });
});

describe("genesis", () => {
  test("comes back as it was", () => {
    const chain = published();
    const [before, after] = chain.exportTwice();
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
    expect(before).toMatchObject({ cert: { certificates: { length: 4 } } });
  });

  test("names every problem", () => {
    const { modules } = standardModules();
    const json = ({ cert, pubkey }: Published, state = "valid") => ({
      state,
      cert: toBase64(cert),
      pubkey: toBase64(pubkey),
    });
    const owner = alice.address;
    const certificates = [
      { owner, certificate: json(first) },
      { owner: bob.address, certificate: json(first) },
      { owner: "bob", certificate: json(first) },
      { owner, certificate: json(second, "invalid") },
      { owner },
      { owner, certificate: json(first, "revoked") },
    ];
    const endings = [
      /^cert: certificates\[1\]: common name .* is not the owner .*: invalid certificate value$/,
      /^cert: certificates\[2\]: owner "bob" is not an account address: invalid address$/,
      /^cert: certificates\[3\]: .*\/128: invalid state$/,
      /^cert: certificates\[4\]: .*: invalid pubkey value$/,
      /^cert: certificates\[5\]: .*\/1767225600123456789 appears twice$/,
    ];
    const expected = endings.map((ending) => expect.stringMatching(ending));
    expect(genesisProblems(modules, { cert: { certificates } })).toEqual(expected);
  });
});

test("a record that is not what its key says is noticed", () => {
  const { keeper, module } = certModule();
  const ctx = emptyContext("cert");
  const set = (serial: bigint, state: Certificate_State) =>
    keeper.certificates.set(
      ctx.store("cert"),
      [decodeAddress(alice.address), serial],
      create(CertificateSchema, { ...third, state }),
    );
  set(5n, Certificate_State.revoked);
  expect(brokenInvariants([module], ctx)).toEqual([]);
  set(5n, Certificate_State.invalid);
  expect(brokenInvariants([module], ctx)).toEqual([`cert/records: ${alice.address}/5 has no state`]);
  set(5n, Certificate_State.valid);
  set(6n, Certificate_State.valid);
  expect(brokenInvariants([module], ctx)).toEqual([
    `cert/records: the certificate of ${alice.address}/6 names ${alice.address}/5`,
  ]);
});
