// The key of a release (ed25519), its list of files and the signature of that list.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The key of a file (PKCS#8 PEM, as `openssl genpkey -algorithm ed25519` writes it), or one that is made for this run alone. */
export function releaseKey(path) {
  if (path === undefined) return { privateKey: generateKeyPairSync("ed25519").privateKey, isTest: true };
  const privateKey = createPrivateKey(readFileSync(path));
  if (privateKey.asymmetricKeyType !== "ed25519") throw new Error(`${path} is no ed25519 key`);
  return { privateKey, isTest: false };
}

/** SubjectPublicKeyInfo, PEM. */
export function publicText({ privateKey }) {
  return createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();
}

/** Writes SHA256SUMS about all other files of a folder, and SHA256SUMS.sig: 64 bytes, over the bytes of the list. Returns the list. */
export function signFolder(folder, { privateKey }) {
  const files = readdirSync(folder).filter((file) => !file.startsWith("SHA256SUMS"));
  const hash = (file) =>
    createHash("sha256")
      .update(readFileSync(join(folder, file)))
      .digest("hex");
  const sums = files.sort().map((file) => `${hash(file)}  ${file}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  writeFileSync(join(folder, "SHA256SUMS.sig"), sign(null, Buffer.from(sums.join("")), privateKey));
  return sums.join("");
}

/** The installer with the public key of a release in it. */
export function installer(template, key) {
  const text = readFileSync(template, "utf8").replace("@PUBLIC_KEY@", publicText(key).trim());
  return text.replace("@TEST_KEY@", key.isTest ? "yes" : "");
}
