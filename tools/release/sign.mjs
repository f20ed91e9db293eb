// The key of a release (ed25519), its list of files and the two signatures of that list.
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

/** The use of signatures in the form of OpenSSH: a signature for another use does not count. */
const PURPOSE = "svc-release";

/** Bytes behind their length, as OpenSSH writes all fields. */
function field(value) {
  const length = Buffer.alloc(4);
  const bytes = Buffer.from(value);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The public key in the form of OpenSSH. */
function sshKey({ privateKey }) {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  return Buffer.concat([field("ssh-ed25519"), field(Buffer.from(x, "base64url"))]);
}

/** The signature in the form of OpenSSH (PROTOCOL.sshsig), for machines whose OpenSSL cannot check one with ed25519. */
export function sshSignature(text, key) {
  const about = [field(PURPOSE), field(""), field("sha512")];
  const digest = createHash("sha512").update(text).digest();
  const signature = sign(null, Buffer.concat([Buffer.from("SSHSIG"), ...about, field(digest)]), key.privateKey);
  const version = Buffer.from([0, 0, 0, 1]);
  const signed = field(Buffer.concat([field("ssh-ed25519"), field(signature)]));
  const parts = [Buffer.from("SSHSIG"), version, field(sshKey(key)), ...about, signed];
  const lines = Buffer.concat(parts)
    .toString("base64")
    .match(/.{1,70}/g);
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n");
}

/** Writes the signatures of a list: 64 bytes over its own, and the same in the form of OpenSSH. */
export function signList(folder, text, key) {
  writeFileSync(join(folder, "SHA256SUMS"), text);
  writeFileSync(join(folder, "SHA256SUMS.sig"), sign(null, Buffer.from(text), key.privateKey));
  writeFileSync(join(folder, "SHA256SUMS.sshsig"), sshSignature(text, key));
}

/** Writes SHA256SUMS about all other files of a folder, with its signatures. Returns the list. */
export function signFolder(folder, key) {
  const files = readdirSync(folder).filter((file) => !file.startsWith("SHA256SUMS"));
  const hash = (file) =>
    createHash("sha256")
      .update(readFileSync(join(folder, file)))
      .digest("hex");
  const sums = files.sort().map((file) => `${hash(file)}  ${file}\n`);
  signList(folder, sums.join(""), key);
  return sums.join("");
}

/** The installer with the public key of a release in it. */
export function installer(template, key) {
  const text = readFileSync(template, "utf8").replace("@PUBLIC_KEY@", publicText(key).trim());
  return text
    .replace("@SSH_KEY@", `ssh-ed25519 ${sshKey(key).toString("base64")}`)
    .replace("@TEST_KEY@", key.isTest ? "yes" : "");
}
