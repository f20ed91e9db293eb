import { BYTES_PER_ENTRY, MAX_EXTENSION } from "../limits.ts";

const BLOCK = 512;
/** Links, devices, folders and pipes have no contents. */
const WITHOUT_CONTENTS = "123456";
const PAX = "x";
const PAX_GLOBAL = "g";
const GNU_LONG_NAME = "L";
const GNU_LONG_LINK = "K";
const GNU_SPARSE = "S";
/** Type of files in archives without types. */
const OLD_FILE = "\0";

/**
 * Weighs a tar as it comes: its bytes, and the files and folders that it makes. It keeps no more than one header in
 * memory, and refuses whatever two readers of tars could read differently, because the engine reads with another one: a
 * file that only the engine sees would not be weighed. Errors are sentences.
 */
export class TarWeigher {
  #header = Buffer.alloc(BLOCK);
  #filled = 0;
  /** Bytes of contents, and of the padding of their last block. */
  #left = 0;
  /** The extension that is being read, with its type; contents of files are not kept. */
  #extension: { readonly type: string; readonly text: Buffer; filled: number } | undefined;
  /** Name and size of the next file from its extensions. */
  #name: string | undefined;
  #size: number | undefined;
  #isExtended = false;
  #folders: readonly string[] = [];
  #emptyBlocks = 0;
  #bytes = 0n;
  #entries = 0n;

  /** Bytes of disk that it takes so far, at most. */
  get weight(): bigint {
    return this.#bytes + this.#entries * BYTES_PER_ENTRY;
  }

  push(chunk: Buffer): void {
    this.#bytes += BigInt(chunk.length);
    let at = 0;
    while (at < chunk.length && !this.#ended) {
      const rest = chunk.subarray(at);
      at += this.#left > 0 ? this.#contents(rest) : this.#block(rest);
    }
  }

  /** Throws if the tar ended too early. */
  end(): void {
    if (this.#left > 0 || this.#filled > 0) throw new Error("it breaks off");
  }

  /** Nothing is read after two empty blocks. */
  get #ended(): boolean {
    return this.#emptyBlocks === 2;
  }

  #contents(rest: Buffer): number {
    const taken = Math.min(rest.length, this.#left);
    const extension = this.#extension;
    if (extension !== undefined) extension.filled += rest.copy(extension.text, extension.filled, 0, taken);
    this.#left -= taken;
    if (this.#left === 0 && extension !== undefined) this.#extend(extension.type, extension.text);
    return taken;
  }

  #block(rest: Buffer): number {
    const taken = rest.copy(this.#header, this.#filled, 0, BLOCK - this.#filled);
    this.#filled += taken;
    if (this.#filled < BLOCK) return taken;
    this.#filled = 0;
    if (this.#header.every((byte) => byte === 0)) this.#emptyBlocks++;
    else this.#entry(this.#header);
    return taken;
  }

  #entry(header: Buffer): void {
    if (this.#emptyBlocks > 0) throw new Error("it contains an empty block");
    checkSum(header);
    const type = String.fromCharCode(header[156] ?? 0);
    const size = number(header.subarray(124, 136));
    if (type === PAX || type === PAX_GLOBAL || type === GNU_LONG_NAME || type === GNU_LONG_LINK) {
      this.#beginExtension(type, size);
    } else this.#file(header, { type, size: this.#size ?? size });
  }

  #beginExtension(type: string, size: number): void {
    if (size > MAX_EXTENSION) throw new Error(`a header of ${size} bytes is too long`);
    // Where there are two, some readers take only the last one, others take both.
    if (type === PAX && this.#isExtended) throw new Error("a file has two headers of one kind");
    this.#isExtended ||= type === PAX;
    this.#entries++;
    this.#left = padded(size);
    const text = Buffer.alloc(size);
    this.#extension = { type, text, filled: 0 };
    if (size === 0) this.#extend(type, text);
  }

  #extend(type: string, text: Buffer): void {
    this.#extension = undefined;
    if (type === GNU_LONG_NAME) this.#setName(cString(text));
    if (type !== PAX && type !== PAX_GLOBAL) return;
    for (const [key, value] of paxRecords(text)) this.#record(type, key, value);
  }

  #record(type: string, key: string, value: string): void {
    if (key.startsWith("GNU.sparse.")) throw sparse();
    if (key !== "size" && key !== "path") return;
    // Readers differ in whether such a header counts for all files.
    if (type === PAX_GLOBAL) throw new Error(`a header for all files sets ${key}`);
    if (key === "path") this.#setName(value);
    else if (this.#size !== undefined) throw new Error("a file has two sizes");
    else if (/^\d{1,15}$/.test(value)) this.#size = Number(value);
    else throw new Error("a size is not a number");
  }

  #setName(name: string): void {
    if (this.#name !== undefined) throw new Error("a file has two long names");
    if (name !== "") this.#name = name;
  }

  #file(header: Buffer, { type, size }: { readonly type: string; readonly size: number }): void {
    const own = nameOf(header);
    const name = this.#name ?? own;
    this.#name = undefined;
    this.#size = undefined;
    this.#isExtended = false;
    if (type === GNU_SPARSE) throw sparse();
    const isFolder = type === OLD_FILE && (own.endsWith("/") || name.endsWith("/"));
    if (size > 0 && (isFolder || WITHOUT_CONTENTS.includes(type))) throw new Error("a folder or link has contents");
    this.#entries += this.#made(name);
    this.#left = padded(size);
  }

  /** Size of the entry and of its new parent folders: readers create missing ones. */
  #made(name: string): bigint {
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    const folders = parts.slice(0, -1);
    const known = this.#folders;
    const first = folders.findIndex((part, at) => part !== known[at]);
    this.#folders = parts;
    return BigInt(1 + (first === -1 ? 0 : folders.length - first));
  }
}

function sparse(): Error {
  return new Error("a file has holes, pack it without --sparse");
}

function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/** The sum of all bytes, with spaces where it stands itself. */
function checkSum(header: Buffer): void {
  const told = number(header.subarray(148, 156));
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (told !== sum) throw new Error("a header is damaged");
}

/** Octal digits, or bytes where the first bit is set. */
function number(field: Buffer): number {
  if ((field[0] ?? 0) & 0x80) {
    const value = field[0] === 0x80 ? BigInt(`0x0${field.subarray(1).toString("hex")}`) : -1n;
    if (value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    throw new Error("a number of a header is too large or negative");
  }
  const text = field.toString("latin1");
  const [, digits] = /^[ \0]*([0-7]*)[ \0]*$/.exec(text) ?? [];
  if (digits === undefined) throw new Error("a number of a header has other characters than digits");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

/** The part in front of the name is only of that form. */
function nameOf(header: Buffer): string {
  const name = cString(header.subarray(0, 100));
  const isPosix = header.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? cString(header.subarray(345, 500)) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

function cString(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end === -1 ? bytes.length : end);
}

/** Records of the form `<length> <key>=<value>\n`. */
function* paxRecords(text: Buffer): Generator<readonly [key: string, value: string]> {
  for (let at = 0; at < text.length; ) {
    const [, digits = ""] = /^(\d{1,7}) /.exec(text.toString("latin1", at, at + 8)) ?? [];
    const end = at + Number(digits);
    const record = text.toString("utf8", at + digits.length + 1, end);
    const equals = record.indexOf("=");
    if (digits === "" || end > text.length || !record.endsWith("\n") || equals <= 0) {
      throw new Error("a record of a header is damaged");
    }
    yield [record.slice(0, equals), record.slice(equals + 1, -1)];
    at = end;
  }
}
