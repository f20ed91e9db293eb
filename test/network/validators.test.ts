import { copyFileSync } from "node:fs";
import { expect, test } from "vitest";
import { homePaths } from "../../src/node/index.ts";
import { MsgDelegateSchema } from "../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { packAny } from "../../src/wire/index.ts";
import { answerOf } from "../support/agreement.ts";
import { type GenesisFile, mustSend, svcOk, waitFor } from "../support/index.ts";
import { ALICE, inLab, keepValidators, type LabNode } from "./lab/lab.ts";
import { Operator } from "./lab/operator.ts";

/** Validators that are punished, join and leave. */

type Json = ReturnType<typeof JSON.parse>;

const LONG_MS = 900_000;
const PATIENCE = { timeoutMs: 180_000, pollMs: 500 } as const;
const CHECKED = ["--check-invariants"];
const DELEGATED = 700_001n;

/** Events of a kind at the beginning and the end of each block, with the height. */
async function blockEvents({ rpc }: LabNode, type: string, last: number): Promise<{ height: number; event: Json }[]> {
  const found: { height: number; event: Json }[] = [];
  for (let height = 1; height <= last; height++) {
    const { finalize_block_events: events } = await answerOf(rpc, `block_results?height=${height}`);
    for (const event of events ?? []) if (event.type === type) found.push({ height, event });
  }
  return found;
}

const attribute = (event: Json, key: string): string | undefined =>
  event.attributes.find((each: Json) => each.key === key)?.value;

async function query(node: LabNode, ...words: string[]): Promise<Json> {
  return JSON.parse(await svcOk(["query", ...words, "--node", node.node.address, "-o", "json"]));
}

test(
  "NET-10: a key in two processes is found out, slashed once with its delegators, and the three others go on",
  {
    timeout: LONG_MS,
  },
  () =>
    // The fifth home is that of no validator, but for the key of the fourth.
    inLab("NET-10", { count: 5, started: 4, flags: CHECKED, editGenesis: keepValidators(4) }, async (lab) => {
      const [first, fourth, twin] = [lab.at(0), lab.at(3), lab.at(4)];
      const guilty = new Operator(fourth);
      const validatorAddress = await guilty.address();
      const client = first.node.client();
      const amount = { denom: "utoken", amount: `${DELEGATED}` };
      await mustSend(
        client,
        ALICE,
        packAny(MsgDelegateSchema, { delegatorAddress: ALICE.address, validatorAddress, amount }),
      );
      client.close();
      const { tokens } = await guilty.validator(first);
      copyFileSync(homePaths(fourth.home).validatorKey, homePaths(twin.home).validatorKey);
      await twin.node.start();
      const began = await first.height();
      const validator = await waitFor(
        async () => {
          const found = await guilty.validator(first);
          return found.jailed === true ? found : undefined;
        },
        "the evidence",
        PATIENCE,
      );
      // A fraction of what the votes weighed, in whole units of power.
      const left = (BigInt(tokens) * 95n) / 100n;
      expect(BigInt(validator.tokens) - left).toBeLessThanOrEqual(50_000n);
      expect(BigInt(validator.tokens)).toBeGreaterThanOrEqual(left);
      const jailedAt = await first.height();
      await first.reaches(jailedAt + 20);
      expect(await guilty.validator(first)).toMatchObject({ tokens: validator.tokens, jailed: true });
      const { balance } = await query(first, "staking", "delegation", ALICE.address, validatorAddress);
      const rest = (DELEGATED * BigInt(validator.tokens)) / BigInt(tokens);
      expect(Number(BigInt(balance.amount) - rest)).toBe(0);
      const slashes = await blockEvents(first, "slash", jailedAt + 20);
      const fines = slashes.filter(({ event }) => attribute(event, "reason") === "double_sign");
      expect(fines).toHaveLength(1);
      const height = fines[0]?.height ?? 0;
      const { evidence } = (await first.answer(`block?height=${height}`)).block.evidence;
      const signed = Number(evidence[0].value.vote_a.height);
      expect(height - signed).toBeLessThanOrEqual(10);
      expect(await guilty.refusal(["slashing", "unjail"], first)).toContain("still jailed");
      const voters: Json[] = (await first.answer("validators")).validators;
      expect(voters).toHaveLength(3);
      return { blocksToEvidence: height - signed, blocksToJail: height - began };
    }),
);

test("NET-12: a validator that is away is jailed at the computed height, and unjailed once", { timeout: LONG_MS }, () =>
  inLab("NET-12", { flags: CHECKED, editGenesis: shortWindow }, async (lab) => {
    const [first, away] = [lab.at(0), lab.at(3)];
    const operator = new Operator(away);
    const own = (await away.answer("status")).validator_info.address;
    await first.reaches(WINDOW + 5);
    await away.node.process.kill();
    await waitFor(async () => (await operator.validator(first)).jailed === true, "the jail", PATIENCE);
    const last = await first.height();
    const jailed = (await blockEvents(first, "slash", last)).filter(
      ({ event }) => attribute(event, "reason") === "missing_signature",
    );
    expect(jailed.map(({ height }) => height)).toEqual([await jailHeight(first, own, last)]);
    await away.node.start();
    await away.catchUp(first);
    await waitFor(
      () => operator.tx(["slashing", "unjail"], first).then(() => true),
      "the end of the time in jail",
      PATIENCE,
    );
    const before = await first.height();
    expect(await operator.refusal(["slashing", "unjail"], first)).toContain("not jailed");
    const signs = async (): Promise<boolean> => {
      const { signatures } = (await first.answer("commit")).signed_header.commit;
      return signatures.some((each: Json) => each.validator_address === own && each.block_id_flag === 2);
    };
    await waitFor(signs, "a vote of the validator that is back", PATIENCE);
    return { jailedAt: jailed[0]?.height ?? 0, blocksToVote: (await first.height()) - before };
  }),
);

test(
  "NET-13: four become seven and four again, with a change of power while one is cut off",
  { timeout: LONG_MS },
  () =>
    inLab(
      "NET-13",
      { count: 7, started: 4, blockIntervalMs: 2_000, flags: CHECKED, editGenesis: keepValidators(4) },
      async (lab) => {
        const [first, second] = [lab.at(0), lab.at(1)];
        const joining = lab.nodes.slice(4);
        await Promise.all(joining.map(({ node }) => node.start()));
        for (const node of joining) {
          const key = await svcOk(["comet", "show-validator", "--home", node.home]);
          const words = ["--amount", "100000000000utoken", "--pubkey", key.trim(), "--moniker", "late"];
          const { height } = await new Operator(node).tx(["staking", "create-validator", ...words], first);
          await first.reaches(Number(height) + 2);
          // The voters of a block follow two blocks later.
          const address = (await node.answer("status")).validator_info.address;
          expect(await votersAt(first, Number(height) + 2)).toContain(address);
        }
        await first.machine.cut(lab.nodes.filter((node) => node !== first).map(({ machine }) => machine));
        const more = new Operator(second);
        const grown = await more.tx(["staking", "delegate", await more.address(), "50000000000utoken"], second);
        await second.reaches(Number(grown.height) + 3);
        await first.machine.heal();
        await first.catchUp(second);
        for (const node of joining) {
          const operator = new Operator(node);
          const words = ["staking", "unbond", await operator.address(), "100000000000utoken"];
          const { height } = await operator.tx(words, first);
          await first.reaches(Number(height) + 2);
          const address = (await node.answer("status")).validator_info.address;
          expect(await votersAt(first, Number(height) + 2)).not.toContain(address);
        }
        return { most: 4 + joining.length, least: (await votersAt(first, await first.height())).length };
      },
    ),
);

async function votersAt(node: LabNode, height: number): Promise<string[]> {
  const { validators } = await node.answer(`validators?height=${height}&per_page=100`);
  return validators.map(({ address }: Json) => address);
}

const WINDOW = 20;
const MOST_MISSED = 10;

function shortWindow({ app_state }: GenesisFile): void {
  const params = app_state.slashing?.params;
  if (typeof params !== "object") throw new Error("a genesis file with slashing");
  Object.assign(params ?? {}, { signed_blocks_window: `${WINDOW}`, downtime_jail_duration: "10s" });
}

/** The block that jails a validator, counted from the votes in blocks alone. */
async function jailHeight(node: LabNode, address: string, last: number): Promise<number | undefined> {
  const missed: boolean[] = [];
  for (let height = 2; height <= last; height++) {
    const { signatures } = (await node.answer(`block?height=${height}`)).block.last_commit;
    const voters = await votersAt(node, height - 1);
    missed.push(signatures[voters.indexOf(address)]?.block_id_flag === 1);
    const inWindow = missed.slice(-WINDOW).filter(Boolean).length;
    if (height > WINDOW + 1 && inWindow > MOST_MISSED) return height;
  }
  return undefined;
}
