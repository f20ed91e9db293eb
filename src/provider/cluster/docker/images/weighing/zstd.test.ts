import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { unpackZstd } from "./zstd.ts";

/** A tar of two files, packed by the reference program. */
const PACKED = Buffer.from(
  "KLUv/QRorQQAEkYTEZB9gBwgWMLuGukOyMXYYkQKS6mUEDrHmFIIAR8yc9bdzyzm/1d/vKNyDoEOQbjduh3UOV30XOv1/8sy1u7iXZwihnDhSLgxSLiDzAYjoGBooMCgkjWAl8R0bg49+JKlOjhGN7OL2cXsMneZuszrQsLnrwOkU4Mtx9Q4ZHwAqbVXazzF0J0t39wdrNs7ABRPAAVtS0RO",
  "base64",
);
const DIGEST = "265cd7024068d8c7192fbc82a4b4f4ec2f5f123ae6de7742fc36addd6dfc7ab2";
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** A frame of the window whose blocks are one byte, repeated. */
function frame({ window = 0x38, blocks = 1, repeat = 1 } = {}): Buffer {
  const head = Buffer.from([...MAGIC, 0, window]);
  const block = (isLast: boolean) => {
    const bytes = Buffer.alloc(4, "a");
    bytes.writeUIntLE((repeat << 3) | 2 | (isLast ? 1 : 0), 0, 3);
    return bytes;
  };
  return Buffer.concat([head, ...Array.from({ length: blocks }, (_, index) => block(index === blocks - 1))]);
}

async function unpack(packed: Buffer, piece = packed.length, stream = unpackZstd()): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(packed.length / piece) }, (_, index) =>
    packed.subarray(index * piece, (index + 1) * piece),
  );
  const parts: Buffer[] = [];
  for await (const part of Readable.from(pieces).pipe(stream.on("error", () => {}))) parts.push(part);
  return Buffer.concat(parts);
}

it("unpacks what the reference program packed, in pieces of any size", async () => {
  for (const piece of [1, 7, 200, PACKED.length]) {
    const digest = createHash("sha256")
      .update(await unpack(PACKED, piece))
      .digest("hex");
    expect(digest, `pieces of ${piece}`).toBe(DIGEST);
  }
});

it("unpacks several frames, and skips those that hold other things", async () => {
  const skipped = Buffer.concat([Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0]), Buffer.from("any")]);
  const packed = Buffer.concat([frame({ blocks: 3, repeat: 1_000 }), skipped, frame(), PACKED]);
  for (const piece of [1, 5, packed.length]) {
    const unpacked = await unpack(packed, piece);
    expect(unpacked.subarray(0, 3_001).equals(Buffer.alloc(3_001, "a")), `pieces of ${piece}`).toBe(true);
    expect(unpacked.length).toBe(3_001 + 10_240);
  }
});

it("says what is wrong", async () => {
  await expect(unpack(PACKED.subarray(0, -1))).rejects.toThrow("it breaks off");
  await expect(unpack(Buffer.concat([PACKED, Buffer.from("more")]))).rejects.toThrow("begins in an unknown way");
  const block = Buffer.from([...MAGIC, 0, 0x38, 0x0f, 0, 0]);
  await expect(unpack(block)).rejects.toThrow("a block has an unknown type");
});

it("refuses a window that would cost too much memory, in any frame", async () => {
  const large = frame({ window: 0x80 });
  for (const packed of [large, Buffer.concat([frame(), large])]) {
    await expect(unpack(packed, 3)).rejects.toThrow("its window is larger than 32 MiB, pack it at a lower level");
  }
  expect(await unpack(frame({ window: 0x78 }))).toEqual(Buffer.from("a"));
});

it("ends where a layer costs more time than its bytes are worth", async () => {
  const stream = unpackZstd({ seconds: 0, bytesPerSecond: 1 << 30 });
  await expect(unpack(frame({ window: 0x68, blocks: 1_100 }), 4_096, stream)).rejects.toThrow("it takes too long");
});
