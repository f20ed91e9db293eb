import { describe, expect, it } from "vitest";
import { checkLeaseImages } from "./images.ts";

describe("images of a lease", () => {
  it("take together no more than it may have", () => {
    const [base, app] = [
      { config: "sha256:a", bytes: 30 << 20 },
      { config: "sha256:b", bytes: 20 << 20 },
    ];
    const most = 50n << 20n;
    checkLeaseImages([], 0n);
    checkLeaseImages([base, app], most);
    expect(() => checkLeaseImages([base, app], most - 1n)).toThrow(/take 50 MiB, this provider has 49 MiB for them/);
    // Services that share an image take it once.
    checkLeaseImages([base, app, base, app], most);
    expect(() => checkLeaseImages([base, app, { config: "sha256:c", bytes: 1 }], most)).toThrow(/use smaller ones/);
  });
});
