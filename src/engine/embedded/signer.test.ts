import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifyEd25519 } from "../../crypto/index.ts";
import { voteSignBytes } from "./blocks/vote.ts";
import { fileSignState, Signer, signStateText } from "./signer.ts";

const SEED = new Uint8Array(32).fill(7);
const blockId = { hash: new Uint8Array(32).fill(1), parts: { total: 1, hash: new Uint8Array(32).fill(2) } };

let directory = "";
let path = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "svc-signer-"));
  path = join(directory, "state.json");
  writeFileSync(path, signStateText());
});

afterEach(() => rmSync(directory, { recursive: true }));

function vote(height: bigint, round: number) {
  return { chainId: "kv-1", height, round, blockId, timestamp: 1n };
}

describe("the signer", () => {
  it("remembers a vote on disk before it gives the signature", () => {
    const signer = new Signer(SEED, fileSignState(path));
    const signature = signer.sign(vote(5n, 0));
    expect(verifyEd25519(signer.publicKey, voteSignBytes(vote(5n, 0)), signature)).toBe(true);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ height: "5", round: 0, step: 3 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("never signs twice for a height and round, not even after a restart", () => {
    new Signer(SEED, fileSignState(path)).sign(vote(5n, 0));
    const signer = new Signer(SEED, fileSignState(path));
    expect(() => signer.sign(vote(5n, 0))).toThrow("height 5 round 0 is signed already");
    expect(() => signer.sign(vote(4n, 9))).toThrow("refusing to sign height 4 round 9");
    expect(signer.roundFor(5n)).toBe(1);
    expect(signer.roundFor(6n)).toBe(0);
    signer.sign(vote(5n, 1));
    expect(signer.roundFor(5n)).toBe(2);
  });

  it("gives no signature when the vote cannot be remembered", () => {
    const store = {
      load: () => undefined,
      save: () => {
        throw new Error("read-only file system");
      },
    };
    expect(() => new Signer(SEED, store).sign(vote(1n, 0))).toThrow("read-only file system");
  });

  it.each(["", "{}", '{"height":5,"round":0}', '{"height":"x","round":0}', "null"])(
    "refuses the damaged file %s",
    (text) => {
      writeFileSync(path, text);
      expect(() => new Signer(SEED, fileSignState(path))).toThrow("the validator's last vote cannot be read");
    },
  );
});
