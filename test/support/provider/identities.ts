import { createPrivateKey, createPublicKey } from "node:crypto";
import {
  createCertificate,
  generatePrivateKey,
  parseCertificatePem,
  publicKeyOf,
  signSecp256k1,
} from "../../../src/crypto/index.ts";
import { toUtf8 } from "../../../src/util/index.ts";
import { MsgCreateCertificateSchema } from "../../../src/wire/gen/svc/cert/v1beta1/cert_pb.js";
import { type Any, encodeAddress, packAny, publicKeyAddress, secp256k1PublicKey } from "../../../src/wire/index.ts";
import type { FakeChain } from "./chain.ts";

/** A certificate with its key in the clear, both PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly privateKey: string;
  readonly serial: string;
}

export interface CertificateWish {
  readonly address: string;
  readonly serial?: bigint;
  readonly hosts?: readonly string[];
  /** Milliseconds since 1970. */
  readonly notBefore?: number;
  readonly notAfter?: number;
}

let serial = BigInt(Date.now()) * 1_000_000n;

export async function testCertificate(wish: CertificateWish): Promise<TestCertificate> {
  const { address, hosts = [], notBefore = Date.now() - 60_000, notAfter = Date.now() + 3_600_000 } = wish;
  serial += 1n;
  const made = await createCertificate(
    { address, hosts, notBefore, notAfter, serial: wish.serial ?? serial },
    "passphrase",
  );
  const key = createPrivateKey({ key: made.encryptedKey, format: "pem", passphrase: "passphrase" });
  return {
    certificate: made.certificate,
    privateKey: key.export({ format: "pem", type: "pkcs8" }).toString(),
    serial: parseCertificatePem(made.certificate).serial,
  };
}

/** The transaction message that puts a certificate on the chain. */
export function publication(owner: string, { certificate, privateKey }: TestCertificate): Any {
  const key = createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();
  const pubkey = toUtf8(key.replaceAll("PUBLIC KEY", "EC PUBLIC KEY"));
  return packAny(MsgCreateCertificateSchema, { owner, cert: toUtf8(certificate), pubkey });
}

/** Puts a certificate on a fake chain. */
export function publish(
  chain: FakeChain,
  address: string,
  { certificate, serial: number }: TestCertificate,
  state: "valid" | "revoked" = "valid",
): void {
  chain.certificates.set(`${address}/${number}`, { state, pem: Buffer.from(certificate) });
}

/** An account with a key that can sign tokens. */
export interface TestAccount {
  readonly address: string;
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}

/** A new account; known to the chain. */
export function testAccount(chain: FakeChain): TestAccount {
  const key = generatePrivateKey();
  const publicKey = publicKeyOf(key);
  const address = encodeAddress(publicKeyAddress(secp256k1PublicKey(publicKey)));
  chain.publicKeys.set(address, secp256k1PublicKey(publicKey));
  return { address, privateKey: key, publicKey, sign: (bytes) => signSecp256k1(key, bytes) };
}
