import { wireErrors } from "../codec/index.ts";

const LENGTH_OF_HASH = 32;
const MAX_VARINT_BYTES = 10;

/** The header of an inner node: height, size and version, then the length of the first child's hash. */
export function checkIavlHeader(header: Uint8Array, layer: number): void {
  const { numbers, rest } = readNumbers(header);
  const [height = -1n] = numbers;
  if (height < BigInt(layer)) throw wireErrors.badProof("an inner node is lower than its distance from the leaf");
  if (rest.length !== 1 || rest[0] !== LENGTH_OF_HASH) throw wireErrors.badProof("an inner node has no IAVL header");
}

/** The prefix of a leaf: height 0, size and version, and nothing else. */
export function checkIavlLeaf(prefix: Uint8Array): void {
  const { numbers, rest } = readNumbers(prefix);
  if (numbers[0] !== 0n || rest.length > 0) throw wireErrors.badProof("the leaf has no IAVL header");
}

/** Three signed numbers in front of bytes; none may be negative. */
function readNumbers(bytes: Uint8Array): { readonly numbers: readonly bigint[]; readonly rest: Uint8Array } {
  const numbers: bigint[] = [];
  let at = 0;
  for (let count = 0; count < 3; count += 1) {
    const size = varintSize(bytes, at);
    numbers.push(zigzag(bytes.subarray(at, at + size)));
    at += size;
  }
  if (numbers.some((number) => number < 0n)) throw wireErrors.badProof("a node has a number below zero");
  return { numbers, rest: bytes.subarray(at) };
}

function varintSize(bytes: Uint8Array, at: number): number {
  for (let size = 1; size <= MAX_VARINT_BYTES; size += 1) {
    const byte = bytes[at + size - 1];
    if (byte === undefined) break;
    if (byte < 0x80) return size;
  }
  throw wireErrors.badProof("a node has no IAVL header");
}

function zigzag(bytes: Uint8Array): bigint {
  const value = BigInt.asUintN(
    64,
    bytes.reduce((sum, byte, i) => sum | (BigInt(byte & 0x7f) << BigInt(7 * i)), 0n),
  );
  return (value & 1n) === 0n ? value >> 1n : -(value >> 1n) - 1n;
}
