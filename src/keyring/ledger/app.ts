import { signatureFromDer } from "../../crypto/index.ts";
import { concatBytes, equalBytes, toUtf8 } from "../../util/index.ts";
import { encodeAddress, publicKeyAddress, type SinglePublicKey, secp256k1PublicKey } from "../../wire/index.ts";
import type { DevicePath } from "../types.ts";
import { type Answer, type Apdu, decodeAnswer, encodeApdu, encodeDevicePath, formatDevicePath } from "./apdu.ts";
import { ledgerErrors } from "./errors.ts";
import { type Asked, isWrongApp, STATUS, statusError } from "./status.ts";
import type { LedgerTransport } from "./transport.ts";

/** The protocol of the Cosmos app, as its public specification has it (docs/APDUSPEC.md of the app). */
const CLA = 0x55;
const INS = { version: 0x00, sign: 0x02, address: 0x04 } as const;
const SHOW = { no: 0, yes: 1 } as const;
const PART = { first: 0, next: 1, last: 2 } as const;
const AMINO_JSON = 0;
/** The device's own software answers which app is open. */
const OPEN_APP: Apdu = { cla: 0xb0, ins: 0x01 };
const NAME_FORMAT = 1;

/** The first version with this protocol. */
const OLDEST = [2, 1, 0] as const;
const CHUNK_SIZE = 250;
const PUBLIC_KEY_SIZE = 33;
/** The largest memory for documents of any model; models with less refuse earlier. */
export const MAX_DOCUMENT = 16_384;
/** The network that every version of the app knows. */
const KNOWN_PREFIX = "cosmos";
/** The wait for commands without a question to the user. A locked device of the older kind gives no answer. */
const ANSWER_MS = 20_000;

/** A key as a device returns it. */
export interface DeviceKey {
  readonly publicKey: SinglePublicKey;
  /** In the spelling that the device shows. */
  readonly address: string;
  /** Prefix of the network, or `cosmos` if the app does not know the network. */
  readonly prefix: string;
}

/** The open Cosmos app of a device. Errors are `ledgerErrors`. */
export class CosmosApp {
  readonly #transport: LedgerTransport;
  readonly #answerMs: number;

  private constructor(transport: LedgerTransport, answerMs: number) {
    this.#transport = transport;
    this.#answerMs = answerMs;
  }

  /** Checks that the app is there and new enough. */
  static async open(transport: LedgerTransport, answerMs: number = ANSWER_MS): Promise<CosmosApp> {
    const app = new CosmosApp(transport, answerMs);
    const answer = await app.#send({ cla: CLA, ins: INS.version });
    if (isWrongApp(answer)) throw ledgerErrors.wrongApp(await app.#openApp());
    const { data } = ok(answer, { confirmed: false });
    const [, major, minor, patch, locked = 0] = data;
    if (major === undefined || minor === undefined || patch === undefined) {
      throw ledgerErrors.badAnswer("no version");
    }
    if (locked !== 0) throw ledgerErrors.locked();
    const version = [major, minor, patch];
    if (isOlder(version)) throw ledgerErrors.oldApp(`version ${version.join(".")}, ${OLDEST.join(".")} is needed`);
    return app;
  }

  /** The key at a path, without a question on the device. */
  async key(path: DevicePath, prefix: string): Promise<DeviceKey> {
    const answer = await this.#askAddress(path, prefix, SHOW.no);
    if (answer.status !== STATUS.unknownPrefix) return deviceKey(ok(answer, unasked(path)), prefix);
    return deviceKey(ok(await this.#askAddress(path, KNOWN_PREFIX, SHOW.no), unasked(path)), KNOWN_PREFIX);
  }

  /** Shows the address of a key, with the prefix that `key` found, and waits for the buttons. */
  async show(path: DevicePath, prefix: string): Promise<DeviceKey> {
    const answer = await this.#askAddress(path, prefix, SHOW.yes);
    return deviceKey(ok(answer, { confirmed: true, path: formatDevicePath(path) }), prefix);
  }

  /**
   * Shows a sign document (sorted amino JSON) and waits for the buttons; 64 bytes R||S over SHA-256 of the document. The
   * prefix is that which `key` found.
   */
  async sign(path: DevicePath, prefix: string, document: Uint8Array): Promise<Uint8Array> {
    if (document.length > MAX_DOCUMENT)
      throw ledgerErrors.tooLarge(`${document.length} bytes, ${MAX_DOCUMENT} at the most`);
    await this.#beginSigning(path, prefix);
    const chunks = chunksOf(document);
    for (const chunk of chunks.slice(0, -1)) {
      ok(await this.#send(signPart(PART.next, chunk)), unasked(path));
    }
    const last = signPart(PART.last, chunks.at(-1) ?? new Uint8Array());
    const { data } = ok(await this.#send(last, "untilConfirmed"), { confirmed: true });
    try {
      return signatureFromDer(data);
    } catch (cause) {
      throw ledgerErrors.badAnswer("no signature", { cause });
    }
  }

  /** Versions that know only one network take only the path. */
  async #beginSigning(path: DevicePath, prefix: string): Promise<void> {
    const pathBytes = encodeDevicePath(path);
    const answer = await this.#send(signPart(PART.first, concatBytes(pathBytes, prefixBytes(prefix))));
    ok(
      answer.status === STATUS.wrongLength ? await this.#send(signPart(PART.first, pathBytes)) : answer,
      unasked(path),
    );
  }

  #askAddress(path: DevicePath, prefix: string, show: number): Promise<Answer> {
    const data = concatBytes(prefixBytes(prefix), encodeDevicePath(path));
    return this.#send({ cla: CLA, ins: INS.address, p1: show, data }, show === SHOW.yes ? "untilConfirmed" : "quick");
  }

  /** Name of the app that is open, for the sentence that asks for another. */
  async #openApp(): Promise<string | undefined> {
    const { data, status } = await this.#send(OPEN_APP);
    const [format, length = 0] = data;
    if (status !== STATUS.ok || format !== NAME_FORMAT) return undefined;
    const name = String.fromCharCode(...data.subarray(2, 2 + length));
    return /^[\w .-]{1,30}$/.test(name) && name !== "BOLOS" ? `the app ${name} is open` : undefined;
  }

  async #send(apdu: Apdu, wait: "quick" | "untilConfirmed" = "quick"): Promise<Answer> {
    const options = wait === "quick" ? { timeoutMs: this.#answerMs } : {};
    return decodeAnswer(await this.#transport.exchange(encodeApdu(apdu), options));
  }
}

function unasked(path: DevicePath): Asked {
  return { confirmed: false, path: formatDevicePath(path) };
}

function ok(answer: Answer, asked: Asked): Answer {
  if (answer.status !== STATUS.ok) throw statusError(answer, asked);
  return answer;
}

function signPart(p1: number, data: Uint8Array): Apdu {
  return { cla: CLA, ins: INS.sign, p1, p2: AMINO_JSON, data };
}

function prefixBytes(prefix: string): Uint8Array {
  const bytes = toUtf8(prefix);
  return Uint8Array.from([bytes.length, ...bytes]);
}

function chunksOf(document: Uint8Array): Uint8Array[] {
  const count = Math.ceil(document.length / CHUNK_SIZE);
  return Array.from({ length: count }, (_, i) => document.subarray(i * CHUNK_SIZE, (i + 1) * CHUNK_SIZE));
}

function isOlder(version: readonly number[]): boolean {
  const at = OLDEST.findIndex((number, i) => version[i] !== number);
  return at >= 0 && (version[at] ?? 0) < (OLDEST[at] ?? 0);
}

/** Rejects a device whose address does not belong to its key. */
function deviceKey({ data }: Answer, prefix: string): DeviceKey {
  try {
    const publicKey = secp256k1PublicKey(new Uint8Array(data.subarray(0, PUBLIC_KEY_SIZE)));
    const address = encodeAddress(publicKeyAddress(publicKey), "account", prefix);
    if (!equalBytes(toUtf8(address), data.subarray(PUBLIC_KEY_SIZE))) throw new Error("another address");
    return { publicKey, address, prefix };
  } catch (cause) {
    throw ledgerErrors.badAnswer("no key with its address", { cause });
  }
}
