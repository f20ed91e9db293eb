import { describe, expect, test } from "vitest";
import {
  type LightBlock,
  signedHeaderJson,
  type TrustOptions,
  validatorsJson,
  verifyBlock,
} from "../../src/light/index.ts";
import { SvcError, toHex } from "../../src/util/index.ts";
import { formatTimestamp, fromNanos, merkleRoot } from "../../src/wire/index.ts";
import { bytesOf, inOrder, LightChain, type Member, member, SECOND, type Votes } from "../support/light/chain.ts";
import { mutated, pick } from "../support/light/mutations.ts";
import { Rng } from "../support/rng.ts";
import { sized } from "../support/runs.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Our verdicts on blocks beside the verdicts of the light client in the ecosystem's engine. */

const built = await buildPeer("light");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference light client is there" : `no reference light client, it says nothing: ${missing}`,
  () => expect(missing).toBe(""),
);

const SEED = Number(process.env.LIGHT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CHAINS = sized(200, 10_000);
const BATCH = 200;
const LENGTH = 6;
const MEMBERS = 9;

interface Question {
  readonly trusted: LightBlock;
  readonly block: LightBlock;
  readonly options: TrustOptions & { readonly period: bigint; readonly drift: bigint };
}

const VERDICTS = new Map([
  [1, "refused"],
  [2, "not enough trust"],
  [3, "expired"],
  [9, "refused"],
  [10, "refused"],
]);

function ours({ trusted, block, options }: Question): string {
  try {
    verifyBlock(trusted, block, options);
    return "good";
  } catch (error) {
    if (error instanceof SvcError && error.codespace === "light") return VERDICTS.get(error.code) ?? error.message;
    throw error;
  }
}

function line({ trusted, block, options }: Question): string {
  const form = (each: LightBlock) => ({
    signed_header: signedHeaderJson(each),
    validators: validatorsJson(each.validators),
  });
  const { now, period, drift } = options;
  const times = { now: formatTimestamp(fromNanos(now)), period: Number(period), drift: Number(drift) };
  return JSON.stringify({ trusted: form(trusted), block: form(block), ...times });
}

/** Sets change a little or wholly, powers too; some validators are absent, or vote for no block; some blocks have evidence. */
function randomChain(rng: Rng): LightChain {
  const chain = new LightChain();
  let set = randomSet(rng, []);
  const absent = pick(rng, [0, 0, 0.2, 0.4]);
  for (let i = 0; i < LENGTH; i += 1) {
    const next = rng.below(2) === 0 ? set : randomSet(rng, rng.below(3) === 0 ? [] : set);
    const votes: Votes = () => (rng.next() < absent ? pick(rng, [1, 3]) : 2);
    const evidence = Array.from({ length: pick(rng, [0, 0, 1, 3]) }, (_, at) => bytesOf(`evidence ${i} ${at}`));
    chain.add({ members: set, next, votes, round: rng.below(3), evidence });
    set = next;
  }
  return chain;
}

function randomSet(rng: Rng, kept: readonly Member[]): readonly Member[] {
  const stays = kept.filter(() => rng.below(4) > 0).map(({ pubKey }) => pubKey);
  const numbers = Array.from({ length: MEMBERS }, (_, i) => i);
  const all = numbers.map((number) => member(number, BigInt(pick(rng, [1, 10, 10, 10, 30]))));
  const chosen = all.filter(({ pubKey }) => stays.some((each) => each[0] === pubKey[0]) || rng.below(3) === 0);
  return inOrder(chosen.length === 0 ? all.slice(0, 1) : chosen);
}

function question(rng: Rng): Question {
  const chain = randomChain(rng);
  const [from, to] = [1 + rng.below(LENGTH), 1 + rng.below(LENGTH)];
  const trusted = chain.at(rng.below(10) === 0 ? from : Math.min(from, to));
  const at = Math.max(from, to);
  const signed = { block: chain.at(at), members: chain.members[at - 1] ?? [] };
  const block = rng.below(3) === 0 ? signed.block : mutated(signed, rng);
  const now = chain.at(LENGTH).header.time + BigInt(pick(rng, [-12, -9, 0, 0, 1, 5])) * SECOND;
  return { trusted, block, options: { now, period: pick(rng, [4n, 100n, 100n]) * SECOND, drift: 10n * SECOND } };
}

describe.skipIf(!(built instanceof Peer))(`the reference light client, seed ${SEED}`, () => {
  test(`has the same verdicts on ${CHAINS} generated and mutated chains`, { timeout: 3_600_000 }, async () => {
    if (!(built instanceof Peer)) throw new Error(missing);
    const rng = new Rng(SEED);
    const counts = new Map<string, number>();
    const without = toHex(merkleRoot([]));
    for (let done = 0; done < CHAINS; done += BATCH) {
      const questions = Array.from({ length: BATCH }, () => question(rng));
      const answers = (await built.ok([], { input: `${questions.map(line).join("\n")}\n` })).trim().split("\n");
      for (const [i, each] of questions.entries()) {
        // The engine verifies a single vote before it counts the votes.
        if (each.block.commit.signatures.length < 2) continue;
        const verdict = ours(each);
        expect(verdict, `chain ${done + i} of seed ${SEED}: ${line(each)}`).toBe(answers[i]);
        const kinds = [
          verdict,
          ...(toHex(each.block.header.evidenceHash) === without ? [] : [`${verdict}, with evidence`]),
        ];
        for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
    }
    for (const verdict of [
      "good",
      "expired",
      "not enough trust",
      "refused",
      "good, with evidence",
      "refused, with evidence",
    ]) {
      expect(counts.get(verdict) ?? 0, verdict).toBeGreaterThan(CHAINS / 50);
    }
  });
});
