import type { ReadonlySignal } from "@preact/signals";
import { tryParseDec, tryParseInt } from "../../util/index.ts";
import { blocksPerDay } from "../live/blocks/head.ts";
import { Command, Facts, Table } from "../parts/blocks.tsx";
import { Address, Amount, Amounts, decimal, State, Strange } from "../parts/text.tsx";
import { t } from "../text/index.ts";
import { operator } from "../text/operator.ts";
import { type Facts as ProviderFacts, type Amounts as Quantities, type Told, useRows } from "./facts.ts";
import { Deployment } from "./orders.tsx";

interface Props {
  readonly told: ReadonlySignal<Told>;
}

/** Prices have 18 decimal places. */
const PLACES = 18;
const MIB = 1n << 20n;
const GIB = 1n << 30n;

/** Room of each node: free of offered. */
export function Capacity({ told }: Props) {
  const rows = useRows(told, ({ nodes }) => nodes);
  const cell = (left: string, offered: string, of: (text: string) => string) => operator.of(of(left), of(offered));
  return (
    <>
      <p>{operator.capacityHint}</p>
      <Table
        name={operator.capacity}
        columns={[
          operator.node,
          { head: operator.cpu, isNumber: true },
          { head: operator.memory, isNumber: true },
          { head: operator.storage, isNumber: true },
          { head: operator.gpu, isNumber: true },
          operator.largest,
        ]}
        rows={rows.value}
        keyOf={({ name }) => name}
        cells={({ name, left, offered, largest }) => [
          <Strange key="name" text={name} isName max={100} />,
          cell(left.cpu, offered.cpu, cores),
          cell(left.memory, offered.memory, bytes),
          cell(left.storage, offered.storage, bytes),
          cell(left.gpu, offered.gpu, (text) => text),
          parts(largest),
        ]}
      />
    </>
  );
}

function cores(text: string): string {
  return decimal(tryParseInt(text) ?? 0n, 3);
}

function bytes(text: string): string {
  const value = tryParseInt(text) ?? 0n;
  const [unit, word] = value >= GIB || value <= -GIB ? [GIB, "GiB"] : [MIB, "MiB"];
  return `${decimal((value * 10n) / unit, 1)} ${word}`;
}

function parts({ cpu, memory, storage, gpu }: Quantities): string {
  return operator.parts(cores(cpu), bytes(memory), bytes(storage), gpu);
}

type Earnings = NonNullable<ProviderFacts["earnings"]>[number];

/** Sums of the active leases; the chain's part of the facts may be missing. */
export function Income({ told }: Props) {
  const rows = useRows(told, ({ earnings }) => [earnings]);
  const [earnings] = rows.value;
  if (earnings === undefined) return <p class="none">{t.gateway.notKnown}</p>;
  const blocks = BigInt(blocksPerDay.value ?? 0);
  const prices = sums(earnings, ({ price }) => tryParseDec(price) ?? 0n);
  return (
    <Facts
      rows={[
        [operator.perBlock, <Amounts key="block" coins={prices} scale={PLACES} />],
        [
          operator.perDay,
          blocks === 0n ? (
            t.gateway.notKnown
          ) : (
            <Amounts
              key="day"
              coins={prices.map(({ denom, amount }) => ({ denom, amount: (amount * blocks) / 10n ** BigInt(PLACES) }))}
            />
          ),
        ],
        [operator.accrued, <Amounts key="accrued" coins={sums(earnings, (each) => tryParseInt(each.accrued) ?? 0n)} />],
        [
          operator.withdrawn,
          <Amounts key="withdrawn" coins={sums(earnings, (each) => tryParseInt(each.withdrawn) ?? 0n)} />,
        ],
      ]}
    />
  );
}

function sums(earnings: readonly Earnings[], amountOf: (each: Earnings) => bigint) {
  const found = new Map<string, bigint>();
  for (const each of earnings) found.set(each.denom, (found.get(each.denom) ?? 0n) + amountOf(each));
  return [...found].map(([denom, amount]) => ({ denom, amount }));
}

/** Leases as the chain has them and as this machine has them, side by side. */
export function Leases({ told }: Props) {
  const rows = useRows(told, leasesOf);
  return (
    <>
      <Table
        name={operator.leases}
        columns={[
          operator.lease,
          operator.tenant,
          operator.here,
          operator.resources,
          { head: operator.perBlock, isNumber: true },
          { head: operator.accrued, isNumber: true },
        ]}
        rows={rows.value}
        keyOf={({ lease }) => lease}
        cells={({ lease, phase, earned, isEnded, room }) => {
          const [owner = "", dseq = ""] = lease.split("/");
          const none = isEnded ? operator.notOnChain : t.gateway.notKnown;
          return [
            <Deployment key="lease" owner={owner} dseq={dseq} />,
            <Address key="tenant" text={owner} />,
            <State key="here" word={phase ?? operator.notHere} kind={phase === undefined ? "bad" : "calm"} />,
            room === undefined ? t.gateway.notKnown : parts(room),
            earned === undefined ? none : <Price key="price" {...earned} />,
            earned === undefined ? "" : <Amount key="accrued" coin={{ denom: earned.denom, amount: earned.accrued }} />,
          ];
        }}
      />
      <Provider told={told} />
    </>
  );
}

function Price({ denom, price }: Earnings) {
  return <Amount coin={{ denom, amount: tryParseDec(price) ?? 0n }} scale={PLACES} />;
}

/** Every lease that the chain or this machine has. None is said to have ended without the chain's answer. */
function leasesOf({ earnings, lease_phases: phases, reservations }: ProviderFacts) {
  const earned = new Map((earnings ?? []).map((each) => [each.lease, each]));
  const phaseOf = new Map(phases.map(({ lease, phase }) => [lease, phase]));
  const roomOf = new Map(reservations.map((each) => [each.order, each]));
  return [...new Set([...earned.keys(), ...phaseOf.keys()])].map((lease) => ({
    lease,
    phase: phaseOf.get(lease),
    earned: earned.get(lease),
    isEnded: earnings !== undefined && !earned.has(lease),
    room: roomOf.get(lease.slice(0, lease.lastIndexOf("/"))),
  }));
}

function Provider({ told }: Props) {
  const rows = useRows(told, ({ provider }) => [provider]);
  return <Command words={["market", "lease", "list", "--state", "active", "--provider", rows.value[0] ?? ""]} />;
}
