import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { idleChain, writtenBytes } from "../../test/support/idle-chain.ts";

const home = mkdtempSync(join(tmpdir(), "svc-idle-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const KIB = 1024;
/** Enough that the journal comes to its tables. */
const BLOCKS = 200;

test.runIf(process.platform === "linux")("an empty block writes less than 100 KiB, however long the chain is", () => {
  const { engine, close } = idleChain(home);
  for (let lot = 0; lot < 4; lot++) {
    const before = writtenBytes("wchar");
    for (let i = 0; i < BLOCKS; i++) engine.produceBlock();
    expect((writtenBytes("wchar") - before) / BLOCKS / KIB).toBeLessThan(100);
  }
  close();
});
