/** Bytes in memory in the place of a file that is read by position; `reads` lists the read positions. */
export function bytesAsFile(bytes: Uint8Array, reads: number[] = []) {
  return {
    size: () => bytes.length,
    read: (start: number, length: number) => {
      const part = bytes.subarray(start, start + length);
      reads.push(part.length);
      return part;
    },
  };
}
