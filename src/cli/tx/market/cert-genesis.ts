import { join } from "node:path";
import type { NewCertificate } from "../../../crypto/index.ts";
import { errorText, MAX_GENESIS_BYTES, readFileText, replaceFile, toBase64, toUtf8 } from "../../../util/index.ts";
import { isArray, isObject, type JsonObject, printJson, readJson } from "../../../wire/index.ts";
import { commandError } from "../../errors.ts";

/** Adds a certificate to the genesis file of a home; returns the file's path. */
export async function addToGenesis(
  home: string,
  owner: string,
  { certificate, publicKey }: Pick<NewCertificate, "certificate" | "publicKey">,
): Promise<string> {
  const path = join(home, "config", "genesis.json");
  const genesis = await readGenesis(path);
  const state = objectIn(genesis, "app_state", path);
  const cert = isObject(state.cert) ? state.cert : {};
  const entry = {
    owner,
    certificate: { state: "valid", cert: toBase64(toUtf8(certificate)), pubkey: toBase64(toUtf8(publicKey)) },
  };
  const certificates = [...(isArray(cert.certificates) ? cert.certificates : []), entry];
  const changed = { ...genesis, app_state: { ...state, cert: { ...cert, certificates } } };
  replaceFile(path, `${printJson(changed, { escapeHtml: false, indent: 2 })}\n`);
  return path;
}

async function readGenesis(path: string): Promise<JsonObject> {
  try {
    const genesis = readJson(readFileText(path, { maxBytes: MAX_GENESIS_BYTES }));
    if (isObject(genesis)) return genesis;
    throw new Error("it is not a JSON object");
  } catch (error) {
    throw commandError(`genesis file ${path}: ${errorText(error)}`, {
      hint: "make one with: svc init <moniker>",
      cause: error,
    });
  }
}

function objectIn(genesis: JsonObject, name: string, path: string): JsonObject {
  const value = genesis[name];
  if (isObject(value)) return value;
  throw commandError(`genesis file ${path} has no ${name}`, { hint: "make one with: svc init <moniker>" });
}
