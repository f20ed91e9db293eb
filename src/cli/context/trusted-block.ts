import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  hashOf,
  type LightBlock,
  readSignedHeader,
  readValidators,
  signedHeaderJson,
  validatorsJson,
} from "../../light/index.ts";
import { isRecord, makePrivateDirectory, replaceFile, toHex, toHexUpper } from "../../util/index.ts";
import { ownBlockPath } from "../command/home.ts";
import { readTextFile } from "../terminal/files.ts";

const MAX_BYTES = 16 << 20;

/** The newest block that a home has verified from a trusted one. */
export function verifiedBlockPath(home: string, root: Uint8Array): string {
  return join(home, "light", `${toHex(root).slice(0, 16)}.json`);
}

/** Undefined if there is none, or none that can be read. */
export function readBlock(path: string): LightBlock | undefined {
  try {
    if (!existsSync(path)) return undefined;
    const json: unknown = JSON.parse(readTextFile(path, { what: "verified block", maxBytes: MAX_BYTES }));
    if (!isRecord(json)) return undefined;
    return { ...readSignedHeader(json.signed_header), validators: readValidators(json.validators) };
  } catch {
    return undefined;
  }
}

/** The arguments of `svc config trust` for the block of the home's node. */
export function trustText(home: string): string | undefined {
  const block = readBlock(ownBlockPath(home));
  return block === undefined ? undefined : `${block.header.height} ${toHexUpper(hashOf(block.header))}`;
}

export function writeBlock(path: string, block: LightBlock): void {
  const json = { signed_header: signedHeaderJson(block), validators: validatorsJson(block.validators) };
  makePrivateDirectory(dirname(path));
  replaceFile(path, `${JSON.stringify(json)}\n`);
}

/** Replaces the block of the home's node, or removes it. Blocks verified from the one before are no longer needed. */
export function replaceOwnBlock(home: string, block: LightBlock | undefined): void {
  const path = ownBlockPath(home);
  const before = readBlock(path);
  if (block === undefined) rmSync(path, { force: true });
  else writeBlock(path, block);
  if (before !== undefined) rmSync(verifiedBlockPath(home, hashOf(before.header)), { force: true });
}
