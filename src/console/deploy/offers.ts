import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { GatewayClient, gatewayClientErrors, type ProviderRecord } from "../../client/index.ts";
import { estimate, type GroupEstimate } from "../../tenant/index.ts";
import { SvcError } from "../../util/index.ts";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query as ProviderQuery } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { printJson, toPlainJson } from "../../wire/index.ts";
import { type Answer, useAsk } from "../live/ask.ts";
import { chain, session } from "../live/chain.ts";
import { gatewayUrl, hasWay } from "../live/gateway/gateway.ts";
import { MAX_ITEMS } from "../parts/safe.ts";
import { deploy } from "../text/deploy.ts";
import { isOutOfReach, type Verdict, verdictOf } from "./cost.ts";
import { settled } from "./draft.ts";

/** A provider's answer about one group, which comes when it comes. */
export interface Offer {
  readonly provider: ProviderRecord;
  readonly verdict: Signal<Verdict>;
}

/** A group of the file, and every provider's answer about it. */
export interface GroupOffers {
  readonly group: GroupSpec;
  readonly offers: readonly Offer[];
}

/** The providers that are asked, and whether the chain has more. */
interface Providers {
  readonly asked: readonly ProviderRecord[];
  readonly isCut: boolean;
}

export type Offers = Pick<Providers, "isCut"> & { readonly groups: readonly GroupOffers[] };

/** Milliseconds without a change of typed groups after which providers are asked. */
const SETTLE_MS = 600;
/** Milliseconds for the answer of one provider. */
const ANSWER_MS = 8_000;
/** A browser has six connections to one origin: silent providers leave two to the node, and no other waits unasked. */
const RELAYED_AT_ONCE = 4;

/** Asks each provider of the chain about the groups, anew when they change. */
export function useOffers(groups: readonly GroupSpec[]): ReadonlySignal<Answer<Offers>> {
  const providers = useAsk(loadProviders, { key: "providers" });
  const mode = session.value?.mode ?? "";
  const key = `${mode} ${groups.map((group) => printJson(toPlainJson(GroupSpecSchema, group))).join(" ")}`;
  const offers = useMemo(() => computed(() => unasked(groups, providers.value)), [key, providers]);
  useEffect(() => {
    const stop = new AbortController();
    const end = offers.subscribe((answer) => {
      if (answer.kind === "known") void settledAsk(answer.value.groups, stop.signal);
    });
    return () => {
      stop.abort();
      end();
    };
  }, [offers]);
  return offers;
}

/** The first providers of the chain. */
async function loadProviders(): Promise<Providers> {
  const limit = BigInt(MAX_ITEMS);
  const { providers, pagination } = await chain.query.call(ProviderQuery.method.providers, { pagination: { limit } });
  const asked = providers.slice(0, MAX_ITEMS).map(({ owner, hostUri, attributes }) => {
    return { address: owner, hostUri, attributes };
  });
  return { asked, isCut: (pagination?.nextKey ?? []).length > 0 };
}

function unasked(groups: readonly GroupSpec[], providers: Answer<Providers>): Answer<Offers> {
  if (providers.kind === "waiting") return providers;
  if (providers.kind === "unknown") return { kind: "unknown", error: providers.error };
  const { asked, isCut } = providers.value;
  return { kind: "known", value: { isCut, groups: groups.map((group) => offersOf(group, asked)) } };
}

function offersOf(group: GroupSpec, asked: readonly ProviderRecord[]): GroupOffers {
  return { group, offers: asked.map((provider) => ({ provider, verdict: signal<Verdict>({ kind: "asking" }) })) };
}

/** The verdicts of the providers, by group. */
export function verdictsOf(groups: readonly GroupOffers[]): Verdict[][] {
  return groups.map(({ offers }) => offers.map(({ verdict }) => verdict.value));
}

/** The refusal of a file whose providers this page cannot reach. */
export function outOfReach(): SvcError {
  const { codespace, code } = gatewayClientErrors.noWebAddress;
  return new SvcError(codespace, code, deploy.beyond, { hint: deploy.beyondRemedy });
}

/** Whether this page has a way to the gateway of a provider of the chain. */
export async function isInReach(owner: string): Promise<boolean> {
  const { provider } = await chain.query.call(ProviderQuery.method.provider, { owner });
  return (
    provider === undefined || hasWay({ address: owner, hostUri: provider.hostUri, attributes: provider.attributes })
  );
}

/** Asks the providers once more, and rejects where no provider in reach may bid: a deposit would be of no use. */
export async function checkReach(groups: readonly GroupSpec[], stop: AbortSignal): Promise<void> {
  const { asked, isCut } = await loadProviders();
  // A provider beyond the list may be in reach.
  if (isCut || asked.every(hasWay)) return;
  const found = groups.map((group) => offersOf(group, asked));
  await ask(found, stop);
  if (isOutOfReach(verdictsOf(found))) throw outOfReach();
}

async function settledAsk(groups: readonly GroupOffers[], stop: AbortSignal): Promise<void> {
  if (settled.peek().isTyped) await new Promise((done) => setTimeout(done, SETTLE_MS));
  await ask(groups, stop);
}

async function ask(groups: readonly GroupOffers[], stop: AbortSignal): Promise<void> {
  const [first] = groups;
  if (first === undefined) return;
  await estimate(
    groups.map(({ group }) => group),
    {
      providers: first.offers.map(({ provider }) => provider),
      gateway: (provider) =>
        new GatewayClient({ provider: provider.address, url: gatewayUrl(provider), timeoutMs: ANSWER_MS }),
      onAnswer: (answer) => take(groups, answer),
      ...(session.peek()?.mode === "console" ? { atOnce: RELAYED_AT_ONCE } : {}),
      signal: stop,
    },
  );
}

function take(groups: readonly GroupOffers[], answer: GroupEstimate): void {
  const found = groups.find(({ group }) => group.name === answer.group);
  const offer = found?.offers.find(({ provider }) => provider.address === answer.provider.address);
  if (found !== undefined && offer !== undefined) offer.verdict.value = verdictOf(found.group, answer);
}
