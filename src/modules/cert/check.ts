import { type AccountCertificate, isSelfSigned, parseCertificatePem, parsePublicKeyPem } from "../../crypto/index.ts";
import { equalBytes, errorText } from "../../util/index.ts";
import type { Certificate } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { decodeAddress, certErrors as errors } from "../../wire/index.ts";

/** Largest PEM text of a certificate or key, in bytes. */
const MAX_PEM = 8192;
const MAX_SERIAL = 2n ** 160n;

/**
 * Reads and checks what an account wants to publish: one self-signed P-256 certificate of the owner, and its key. Dates
 * are not checked here: peers check them at every connection.
 */
export function checkCertificate(owner: string, pem: Pick<Certificate, "cert" | "pubkey">): AccountCertificate {
  const certificate = readCertificate(owner, pem);
  if (!isSelfSigned(certificate)) throw errors.invalidCertificate("it is not signed by its own key");
  return certificate;
}

/** All of `checkCertificate` except the signature, which is only checked after the fee was taken. */
export function readCertificate(
  owner: string,
  { cert, pubkey }: Pick<Certificate, "cert" | "pubkey">,
): AccountCertificate {
  if (cert.length > MAX_PEM || pubkey.length > MAX_PEM) throw errors.invalidKeySize(`more than ${MAX_PEM} bytes`);
  const key = read(errors.invalidPubkey, () => parsePublicKeyPem(pubkey));
  const certificate = read(errors.invalidCertificate, () => parseCertificatePem(cert));
  if (!equalBytes(decodeName(certificate.commonName), decodeAddress(owner, "account"))) {
    throw errors.invalidCertificate(`common name ${certificate.commonName.slice(0, 128)} is not the owner ${owner}`);
  }
  if (!equalBytes(certificate.publicKey, key)) throw errors.invalidPubkey("it is not the key in the certificate");
  parseSerial(certificate.serial);
  return certificate;
}

/** Decimal text of a serial number above 0 and below 2^160. */
export function parseSerial(text: string): bigint {
  const serial = /^\d{1,49}$/.test(text) ? BigInt(text) : 0n;
  if (serial <= 0n || serial >= MAX_SERIAL) throw errors.invalidSerial(`"${text.slice(0, 64)}"`);
  return serial;
}

function decodeName(name: string): Uint8Array {
  return read(errors.invalidCertificate, () => decodeAddress(name, "account"));
}

function read<T>(error: (detail: string) => Error, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw error(errorText(cause));
  }
}
