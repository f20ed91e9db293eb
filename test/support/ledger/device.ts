import { derivePrivateKey, mnemonicToSeed, publicKeyOf, signSecp256k1 } from "../../../src/crypto/index.ts";
import { concatBytes, toUtf8 } from "../../../src/util/index.ts";
import { encodeAddress, publicKeyAddress, secp256k1PublicKey } from "../../../src/wire/index.ts";
import { derSignature } from "./der.ts";
import { documentFault } from "./document.ts";

/** Throw-away phrases; never fund them. */
export const DEVICE_PHRASE =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
export const OTHER_PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow";

/** Networks of the current app; the ones before it took any. */
const KNOWN_PREFIXES = ["cosmos", "osmo", "dydx", "mantra", "xion", "celestia", "core", "neutron"];

const INS = { version: 0x00, sign: 0x02, address: 0x04 };
const SW = {
  ok: [0x90, 0x00],
  locked: [0x55, 0x15],
  wrongLength: [0x67, 0x00],
  dataInvalid: [0x69, 0x84],
  notAllowed: [0x69, 0x86],
  tooMuchData: [0x69, 0x88],
  pathValue: [0x69, 0x89],
  prefixLength: [0x69, 0x8a],
  pathCoin: [0x69, 0x8b],
  unknownPrefix: [0x69, 0x8c],
  wrongP1P2: [0x6b, 0x00],
  unknownInstruction: [0x6d, 0x00],
  unknownClass: [0x6e, 0x00],
  dashboardClass: [0x6e, 0x01],
} as const;

/** How the emulated device behaves; tests change it between commands. */
export interface DeviceSettings {
  phrase: string;
  /** Version of the Cosmos app. */
  version: readonly [major: number, minor: number, patch: number];
  /** Name of the app that is open; `BOLOS` for none. */
  openApp: string;
  locked: boolean;
  /** The user's answer to a screen; a promise lets them think. */
  decide: (screen: string) => boolean | Promise<boolean>;
  /** Prefixes that the app takes; none for all. */
  prefixes: readonly string[] | undefined;
  /** Whether the first part of a document may have a prefix, as newer apps have it. */
  prefixWithDocument: boolean;
  /** Numbers over 100 in paths. */
  expert: boolean;
  /** Bytes of the memory for documents. */
  memory: number;
  /** Gives the other of the two right signatures. */
  highS: boolean;
  /** Answers instead of the app: bytes, never anything, or the end of the connection. */
  fault: (command: Command) => Uint8Array | "silence" | "disconnect" | undefined;
}

export interface Command {
  readonly cla: number;
  readonly ins: number;
  readonly p1: number;
  readonly p2: number;
  readonly data: Uint8Array;
}

/** Thrown where the device goes away instead of answering. */
export class Unplugged extends Error {}

interface Request {
  readonly path: string;
  readonly prefix: string;
}

/**
 * A hardware device with the Cosmos app, made from the app's public protocol: it derives keys from a phrase, shows
 * addresses and documents on its screen, and refuses what the app refuses.
 */
export class EmulatedDevice {
  readonly settings: DeviceSettings;
  /** Shown screens, in order. */
  readonly screens: string[] = [];
  /** Classes and instructions of the commands received. */
  readonly commands: string[] = [];
  #state: "idle" | "receiving" | "reviewing" = "idle";
  #request: Request = { path: "", prefix: "" };
  #document: Uint8Array = new Uint8Array();

  constructor(settings: Partial<DeviceSettings> = {}) {
    this.settings = {
      phrase: DEVICE_PHRASE,
      version: [2, 38, 13],
      openApp: "Cosmos",
      locked: false,
      decide: () => true,
      prefixes: KNOWN_PREFIXES,
      prefixWithDocument: true,
      expert: false,
      memory: 16_384,
      highS: false,
      fault: () => undefined,
      ...settings,
    };
  }

  /** Answers one command: data and status. */
  async exchange(apdu: Uint8Array): Promise<Uint8Array> {
    const [cla = 0, ins = 0, p1 = 0, p2 = 0, length = 0] = apdu;
    const command = { cla, ins, p1, p2, data: apdu.subarray(5) };
    this.commands.push(Buffer.from([cla, ins, p1, p2]).toString("hex"));
    const fault = this.settings.fault(command);
    if (fault === "disconnect") throw new Unplugged();
    if (fault === "silence") return new Promise(() => {});
    if (fault !== undefined) return fault;
    return command.data.length === length ? this.#answer(command) : Uint8Array.from(SW.wrongLength);
  }

  async #answer(command: Command): Promise<Uint8Array> {
    const { locked, openApp } = this.settings;
    if (locked) return Uint8Array.from(SW.locked);
    if (command.cla === 0xb0 && command.ins === 0x01) return ok(Uint8Array.from([1, openApp.length]), toUtf8(openApp));
    if (openApp !== "Cosmos") return Uint8Array.from(openApp === "BOLOS" ? SW.dashboardClass : SW.unknownClass);
    if (command.cla !== 0x55) return Uint8Array.from(SW.unknownClass);
    switch (command.ins) {
      case INS.version:
        return ok(Uint8Array.from([0, ...this.settings.version, 0]), Uint8Array.from([0x33, 0x00, 0x00, 0x04]));
      case INS.address:
        return this.#address(command);
      case INS.sign:
        return this.#part(command);
      default:
        return Uint8Array.from(SW.unknownInstruction);
    }
  }

  async #address({ p1, data }: Command): Promise<Uint8Array> {
    if (this.#state !== "idle") return Uint8Array.from(SW.notAllowed);
    const length = data[0] ?? 0;
    const prefix = Buffer.from(data.subarray(1, 1 + length)).toString("latin1");
    const path = this.#readPath(data.subarray(1 + length));
    if (typeof path !== "string") return Uint8Array.from(path);
    const fault = this.#prefixFault(prefix);
    if (fault !== undefined) return Uint8Array.from(fault);
    const { publicKey, address } = await this.keyAt(path, prefix);
    if (p1 === 1 && !(await this.#review(address))) return Uint8Array.from(SW.notAllowed);
    return ok(publicKey, toUtf8(address));
  }

  async #part({ p1, p2, data }: Command): Promise<Uint8Array> {
    if (p2 !== 0) return Uint8Array.from(SW.wrongP1P2);
    if (p1 === 0) return this.#begin(data);
    if (this.#state !== "receiving") return Uint8Array.from(SW.notAllowed);
    this.#document = concatBytes(this.#document, data);
    if (this.#document.length > this.settings.memory) return this.#forget(SW.tooMuchData);
    if (p1 === 1) return Uint8Array.from(SW.ok);
    return p1 === 2 ? this.#sign() : Uint8Array.from(SW.wrongP1P2);
  }

  #begin(data: Uint8Array): Uint8Array {
    if (this.#state !== "idle") return Uint8Array.from(SW.notAllowed);
    const path = this.#readPath(data.subarray(0, 20));
    if (typeof path !== "string") return Uint8Array.from(path);
    if (data.length > 20 && !this.settings.prefixWithDocument) return Uint8Array.from(SW.wrongLength);
    const prefix = data.length > 20 ? Buffer.from(data.subarray(21)).toString("latin1") : "cosmos";
    if (data.length > 20 && data[20] !== prefix.length) return Uint8Array.from(SW.prefixLength);
    const fault = this.#prefixFault(prefix);
    if (fault !== undefined) return Uint8Array.from(fault);
    this.#request = { path, prefix };
    this.#document = new Uint8Array();
    this.#state = "receiving";
    return Uint8Array.from(SW.ok);
  }

  async #sign(): Promise<Uint8Array> {
    const document = this.#document;
    const fault = documentFault(document);
    if (fault !== undefined) {
      this.#state = "idle";
      return Uint8Array.from([...toUtf8(fault), ...SW.dataInvalid]);
    }
    if (!(await this.#review(Buffer.from(document).toString("utf8")))) return Uint8Array.from(SW.notAllowed);
    const { privateKey } = await this.keyAt(this.#request.path, this.#request.prefix);
    return ok(derSignature(signSecp256k1(privateKey, document), this.settings.highS));
  }

  /** Shows a screen until the user has decided. */
  async #review(screen: string): Promise<boolean> {
    this.#state = "reviewing";
    this.screens.push(screen);
    try {
      return await this.settings.decide(screen);
    } finally {
      this.#state = "idle";
    }
  }

  #forget(status: readonly number[]): Uint8Array {
    this.#state = "idle";
    return Uint8Array.from(status);
  }

  #prefixFault(prefix: string): readonly number[] | undefined {
    if (prefix.length === 0 || prefix.length > 83) return SW.prefixLength;
    const { prefixes } = this.settings;
    return prefixes === undefined || prefixes.includes(prefix) ? undefined : SW.unknownPrefix;
  }

  /** The path as text, or the status that refuses it. */
  #readPath(data: Uint8Array): string | readonly number[] {
    if (data.length !== 20) return SW.wrongLength;
    const numbers = Array.from({ length: 5 }, (_, i) => Buffer.from(data).readUInt32LE(i * 4));
    const [purpose = 0, coin = 0, account = 0, change = 0, index = 0] = numbers;
    const hardened = 0x8000_0000;
    if (purpose !== hardened + 44 || coin !== hardened + 118 || account < hardened || change !== 0) return SW.pathCoin;
    if (!this.settings.expert && (account - hardened > 100 || index > 100)) return SW.pathValue;
    return `m/44'/118'/${account - hardened}'/0/${index}`;
  }

  /** The key that the device derives. */
  async keyAt(
    path: string,
    prefix: string,
  ): Promise<{ readonly privateKey: Uint8Array; readonly publicKey: Uint8Array; readonly address: string }> {
    const privateKey = await derivePrivateKey(await mnemonicToSeed(this.settings.phrase), path);
    const publicKey = publicKeyOf(privateKey);
    const address = encodeAddress(publicKeyAddress(secp256k1PublicKey(publicKey)), "account", prefix);
    return { privateKey, publicKey, address };
  }
}

function ok(...data: readonly Uint8Array[]): Uint8Array {
  return concatBytes(...data, Uint8Array.from(SW.ok));
}
