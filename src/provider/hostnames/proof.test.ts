import { expect, it } from "vitest";
import { ManualClock } from "../../../test/support/provider/clock.ts";
import type { Clock } from "../../util/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import {
  accountHost,
  dnsProver,
  HOST_LIMITS,
  HostOwnership,
  type HostProver,
  HostRegistry,
  type Lookups,
  type Proof,
} from "./index.ts";

const DOMAIN = "apps.example.com";
const ALICE = "svc1alice";
const BOB = "svc1bob";
const HOST = "www.example.org";
const aliasOf = (owner: string) => accountHost(owner, DOMAIN);

type Answer = readonly string[] | Error | "silence";

/** A DNS of these records; other names do not exist. */
function dns(records: Readonly<Record<string, Answer>>) {
  const asked: string[] = [];
  const open = (): Lookups => {
    const waiting: ((error: Error) => void)[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      const answer = records[question] ?? failure("ENOTFOUND");
      if (answer instanceof Error) throw answer;
      if (answer === "silence") return new Promise<never>((_, reject) => void waiting.push(reject));
      return answer;
    };
    return {
      txt: async (name) => (await ask(`TXT ${name}`)).map((text) => [text.slice(0, 4), text.slice(4)]),
      cname: (name) => ask(`CNAME ${name}`),
      cancel: () => {
        for (const reject of waiting) reject(failure("ECANCELLED"));
      },
    };
  };
  return { asked, open };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const CHALLENGE = `TXT _svc-challenge.${HOST}`;

it.each<[string, Readonly<Record<string, Answer>>, Proof]>([
  ["a TXT record that is the address", { [CHALLENGE]: ["other", ALICE] }, "yes"],
  ["a TXT record in pieces and with blanks", { [CHALLENGE]: [` ${ALICE} `] }, "yes"],
  [
    "a CNAME of the account's name, in any case and with a final dot",
    { [`CNAME ${HOST}`]: [`${aliasOf(ALICE).toUpperCase()}.`] },
    "yes",
  ],
  [
    "one of the two, while the other is not answered",
    { [CHALLENGE]: [ALICE], [`CNAME ${HOST}`]: failure("ESERVFAIL") },
    "yes",
  ],
  ["another account's address", { [CHALLENGE]: [BOB] }, "no"],
  ["the address within a longer text", { [CHALLENGE]: [`v=spf1 ${ALICE}`] }, "no"],
  ["another account's name", { [`CNAME ${HOST}`]: [aliasOf(BOB)] }, "no"],
  ["the provider's bare domain", { [`CNAME ${HOST}`]: [DOMAIN] }, "no"],
  ["a record of the parent domain", { "TXT _svc-challenge.example.org": [ALICE] }, "no"],
  [
    "the address behind more records than are read",
    { [CHALLENGE]: [...Array(HOST_LIMITS.records).fill("x"), ALICE] },
    "no",
  ],
  ["nothing, and names without records", { [CHALLENGE]: failure("ENODATA") }, "no"],
  ["a server that fails", { [CHALLENGE]: failure("ESERVFAIL") }, "unknown"],
  ["a server that refuses", { [CHALLENGE]: failure("EREFUSED") }, "unknown"],
  ["a server that does not answer", { [CHALLENGE]: "silence" }, "unknown"],
])("%s", async (_, records, proof) => {
  const { open } = dns(records);
  expect(await dnsProver({ aliasOf, open, limitMs: 50 }).prove(HOST, ALICE)).toBe(proof);
});

it("asks for no CNAME where no name stands for the account", async () => {
  const { open, asked } = dns({});
  expect(await dnsProver({ aliasOf: () => undefined, open }).prove(HOST, ALICE)).toBe("no");
  expect(asked).toEqual([CHALLENGE]);
});

const lease = (owner: string, dseq: bigint): LeaseKey => ({ owner, dseq, gseq: 1, oseq: 1, provider: "svc1p" });

/** A registry in which Alice has the name, and a DNS that a test changes. */
function contest(says: Record<string, Proof>, clock?: Clock) {
  const registry = new HostRegistry({ quarantineMs: 1_000, domain: DOMAIN });
  registry.claim(lease(ALICE, 1n), [HOST]);
  registry.retain(lease(ALICE, 1n), [HOST]);
  const lost: string[] = [];
  const asked: string[] = [];
  const prover: HostProver = {
    async prove(host, owner) {
      asked.push(`${host} ${owner}`);
      return says[owner] ?? "no";
    },
  };
  const onLost = ({ owner, dseq }: Pick<LeaseKey, "owner" | "dseq">, host: string) =>
    void lost.push(`${owner}/${dseq} ${host}`);
  const ownership = new HostOwnership({ registry, prover, aliasOf, onLost, ...(clock === undefined ? {} : { clock }) });
  return { registry, ownership, lost, asked };
}

it("tells an account that has no proof what to write into the DNS", async () => {
  const { ownership } = contest({});
  const refusal = ownership.establish(lease(BOB, 2n), ["shop.example.org"]);
  await expect(refusal).rejects.toMatchObject({
    message: expect.stringContaining('"shop.example.org"'),
    hint: `add the DNS record _svc-challenge.shop.example.org TXT "${BOB}", or make shop.example.org a CNAME of ${aliasOf(BOB)}`,
  });
});

it("asks for no proof of names that are the owner's already, in use or resting", async () => {
  const { ownership, registry, asked } = contest({});
  await ownership.establish(lease(ALICE, 2n), [HOST]);
  registry.release(lease(ALICE, 1n));
  await ownership.establish(lease(ALICE, 3n), [HOST]);
  expect(asked).toEqual([]);
});

it("gives a name to the new holder of its domain, and only when the old one is no longer named", async () => {
  const says: Record<string, Proof> = { [BOB]: "yes", [ALICE]: "yes" };
  const { ownership, registry, lost } = contest(says);
  for (const still of ["yes", "unknown"] as const) {
    says[ALICE] = still;
    await ownership.establish(lease(BOB, 2n), [HOST]);
    expect(() => registry.claim(lease(BOB, 2n), [HOST])).toThrow(/in use/);
  }
  says[ALICE] = "no";
  await ownership.establish(lease(BOB, 2n), [HOST]);
  expect(lost).toEqual([`${ALICE}/1 ${HOST}`]);
  expect(registry.claim(lease(BOB, 2n), [HOST]).accepted).toEqual([HOST]);
  expect(registry.allows(lease(ALICE, 1n), HOST)).toBe(false);
});

it("says before a lease whether its names could be had, changes nothing and names nobody", async () => {
  const says: Record<string, Proof> = { [BOB]: "yes", [ALICE]: "yes" };
  const { ownership, registry, lost } = contest(says);
  const check = (owner: string) => ownership.check(lease(owner, 2n), [HOST]);
  const [inUse] = await Promise.allSettled([check(BOB)]);
  registry.release(lease(ALICE, 1n));
  const [resting] = await Promise.allSettled([check(BOB)]);
  expect(inUse).toMatchObject({ reason: { message: `"${HOST}": hostname not available here` } });
  expect(resting).toEqual(inUse);
  await check(ALICE);
  says[ALICE] = "no";
  await check(BOB);
  expect([lost, registry.ownerOf(HOST)]).toEqual([[], ALICE]);
  says[BOB] = "no";
  await expect(check(BOB)).rejects.toThrow(/no DNS record proves/);
});

it("takes the first tenant with a name for its owner where nothing is proven", async () => {
  const registry = new HostRegistry();
  registry.claim(lease(ALICE, 1n), [HOST]);
  const ownership = new HostOwnership({ registry, prover: undefined, aliasOf, onLost: () => {} });
  await ownership.check(lease(BOB, 2n), ["other.example.org"]);
  await ownership.check(lease(ALICE, 2n), [HOST]);
  await expect(ownership.check(lease(BOB, 2n), [HOST])).rejects.toThrow(/not available here/);
  // `establish` lets it pass: the registry refuses the manifest, once there is a lease.
  await ownership.establish(lease(BOB, 2n), [HOST]);
});

it("ends the rest of a name whose domain has a new holder", async () => {
  const { ownership, registry } = contest({ [BOB]: "yes" });
  registry.release(lease(ALICE, 1n));
  expect(registry.allows(lease(BOB, 2n), HOST)).toBe(false);
  await ownership.establish(lease(BOB, 2n), [HOST]);
  expect(registry.allows(lease(BOB, 2n), HOST)).toBe(true);
});

it("refuses names that nobody may have before the DNS is asked, and stops at the first few that fail", async () => {
  const { ownership, asked } = contest({});
  await expect(ownership.establish(lease(BOB, 2n), ["a.example.org", `x.${DOMAIN}`])).rejects.toThrow(
    /belongs to the provider/,
  );
  expect(asked).toEqual([]);
  const names = Array.from({ length: 50 }, (_, n) => `n${n}.example.org`);
  await expect(ownership.establish(lease(BOB, 2n), names)).rejects.toThrow(/no DNS record proves/);
  expect(asked).toHaveLength(HOST_LIMITS.together);
});

it("lets an owner who sends his names again and again ask the DNS no more often than others can bear", async () => {
  const clock = new ManualClock();
  const { ownership, asked } = contest({}, clock);
  const { ownerBurst, ownerPerSecond, perLease } = HOST_LIMITS;
  const send = (owner: string, dseq: bigint) => ownership.establish(lease(owner, dseq), [`shop${dseq}.example.org`]);
  for (let sent = 0; sent < ownerBurst; sent++) {
    await expect(send(BOB, BigInt(sent))).rejects.toThrow(/no DNS record proves/);
  }
  await expect(send(BOB, 0n)).rejects.toThrow(/too many checks/);
  expect(asked).toHaveLength(ownerBurst);
  await expect(send("svc1carol", 1n)).rejects.toThrow(/no DNS record proves/);
  await clock.advance(1_000 / ownerPerSecond);
  await expect(send(BOB, 0n)).rejects.toThrow(/no DNS record proves/);
  await expect(send(BOB, 0n)).rejects.toThrow(/too many checks/);
  expect(ownerBurst, "the names of a lease may be asked for at once").toBeGreaterThanOrEqual(perLease);
});

it("refuses more names than a lease may have before the DNS is asked", async () => {
  const { ownership, asked } = contest({});
  const names = Array.from({ length: HOST_LIMITS.perLease + 1 }, (_, n) => `n${n}.example.org`);
  await expect(ownership.establish(lease(BOB, 2n), names)).rejects.toThrow(/too many host names/);
  expect(asked).toEqual([]);
});

it("keeps the places for questions of others free of an owner whose name servers never answer", async () => {
  const held: string[] = [];
  const prover: HostProver = {
    prove(host, owner) {
      if (owner !== BOB) return Promise.resolve("yes");
      held.push(host);
      return new Promise(() => {});
    },
  };
  const ownership = new HostOwnership({ registry: new HostRegistry(), prover, aliasOf, onLost: () => {} });
  for (let dseq = 0n; dseq < BigInt(HOST_LIMITS.lookups); dseq++) {
    void ownership.establish(
      lease(BOB, dseq),
      ["a", "b"].map((each) => `${each}${dseq}.example.org`),
    );
  }
  await ownership.establish(lease(ALICE, 1n), [HOST]);
  expect(held).toHaveLength(HOST_LIMITS.ownerLookups);
  expect(HOST_LIMITS.ownerLookups).toBeLessThan(HOST_LIMITS.lookups / 2);
});

it("gives a name to one of two new holders whose proofs come at once, and takes it from neither", async () => {
  const CAROL = "svc1carol";
  const says: Record<string, Proof> = { [BOB]: "yes", [CAROL]: "yes" };
  const { ownership, registry, lost } = contest(says);
  const move = async (owner: string) => {
    await ownership.establish(lease(owner, 2n), [HOST]);
    return registry.claim(lease(owner, 2n), [HOST]);
  };
  const moves = await Promise.allSettled([move(BOB), move(CAROL)]);
  expect(moves.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(lost).toEqual([`${ALICE}/1 ${HOST}`]);
  expect(registry.ownerOf(HOST)).toBe(BOB);
  // The previous holder gets nothing back while the DNS names both holders.
  says[ALICE] = "yes";
  await ownership.establish(lease(ALICE, 3n), [HOST]);
  expect(() => registry.claim(lease(ALICE, 3n), [HOST])).toThrow(/in use/);
});
