import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { buildPeer, Peer } from "./peers.ts";

/** The reference tool of a release. Undefined if it cannot be built; a test says so, and fails in CI. */
export async function referenceTool(name: "simd42" | "simd53", untested: string): Promise<Peer | undefined> {
  const built = await buildPeer(name);
  const missing = built instanceof Peer ? "" : built.missing;
  test.skipIf(missing !== "" && process.env.CI !== "true")(
    missing === "" ? "the reference tool is there" : `no reference tool, ${untested}: ${missing}`,
    () => expect(missing).toBe(""),
  );
  return built instanceof Peer ? built : undefined;
}

/** Writes each text to its own file and returns its path; the files are removed after the tests. */
export function temporaryFiles(): (text: string) => string {
  const root = mkdtempSync(join(tmpdir(), "svc-interop-"));
  afterAll(() => rmSync(root, { recursive: true }));
  let files = 0;
  return (text) => {
    files += 1;
    const path = join(root, `file-${files}.json`);
    writeFileSync(path, text);
    return path;
  };
}
