import type { LeaseStatus, ServiceStatus } from "../../client/index.ts";
import { ipVersion } from "../../util/index.ts";
import type { DeploymentKey, LeaseKey } from "../../wire/index.ts";
import { Known, Section, Table } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { None, Out, State, Strange, Time } from "../parts/text.tsx";
import { t } from "../text/index.ts";
import { runningWords } from "../text/running.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { ForOwner, leaseKey, openLease, usePolled } from "./leases.tsx";

const EVERY_MS = 3_000;

/** The services of a deployment as their providers see them now, for its connected owner. */
export function Running({ id }: { id: DeploymentKey }) {
  return (
    <Section title={runningWords.title}>
      <ForOwner id={id}>{(account, leases) => <Leases account={account} leases={leases} />}</ForOwner>
    </Section>
  );
}

/** The state of a lease, or why it is not known. */
interface Told {
  readonly id: LeaseKey;
  readonly status?: LeaseStatus;
  readonly error?: unknown;
}

async function ask(account: Wallet, id: LeaseKey): Promise<Told> {
  try {
    return { id, status: await (await openLease(account, id)).gateway.leaseStatus(id) };
  } catch (error) {
    return { id, error };
  }
}

function Leases({ account, leases }: { account: Wallet; leases: readonly LeaseKey[] }) {
  const answer = usePolled(
    async () => ({ told: await Promise.all(leases.map((id) => ask(account, id))), at: new Date() }),
    { key: `${account.address} ${leases.map(leaseKey).join(" ")}`, everyMs: EVERY_MS },
  );
  return (
    <Known answer={answer}>
      {({ told, at }) => (
        <>
          {told.map((each) => (
            <OneLease key={leaseKey(each.id)} told={each} />
          ))}
          <p class="none">
            {runningWords.askedAt} <Time time={at} />
          </p>
        </>
      )}
    </Known>
  );
}

function OneLease({ told: { id, status, error } }: { told: Told }) {
  if (status === undefined) return <Fault error={error} />;
  return (
    <>
      {status.error !== undefined && (
        <p class="notice bad">
          <Strange text={status.error} max={1000} />
        </p>
      )}
      {status.health === "unknown" && <p class="notice">{runningWords.unknownState}</p>}
      {(status.withheld_hosts ?? []).length > 0 && (
        <p class="notice">
          <Strange text={runningWords.withheld((status.withheld_hosts ?? []).join(", "))} max={1000} />
        </p>
      )}
      <Table
        name={runningWords.lease(`${id.gseq}/${id.oseq}`)}
        columns={[
          runningWords.service,
          { head: runningWords.ready, isNumber: true },
          runningWords.replicas,
          runningWords.reach,
          runningWords.why,
        ]}
        rows={Object.values(status.services)}
        keyOf={({ name }) => name}
        cells={(service) => [
          <Strange key="name" text={service.name} isName max={100} />,
          <State
            key="ready"
            word={`${service.available}/${service.total}`}
            kind={service.available >= service.total ? "good" : "bad"}
          />,
          <Replicas key="replicas" pods={service.pods} />,
          <Reach key="reach" status={status} service={service} />,
          <Why key="why" service={service} />,
        ]}
      />
    </>
  );
}

/** Replicas and addresses of one service that a page shows. */
const MAX_PARTS = 20;

function Replicas({ pods }: Pick<ServiceStatus, "pods">) {
  if (pods.length === 0) return <None />;
  return (
    <span class="stack">
      {pods.slice(0, MAX_PARTS).map(({ name, ready, restarts, state }) => (
        <span key={name}>
          <Strange text={name} isName max={100} /> <State word={state} kind={ready ? "good" : "bad"} />{" "}
          <small>{runningWords.restarts(restarts)}</small>
        </span>
      ))}
      {pods.length > MAX_PARTS && <em class="cut">{t.value.items(pods.length - MAX_PARTS)}</em>}
    </span>
  );
}

function Reach({ status, service }: { status: LeaseStatus; service: ServiceStatus }) {
  const urls = addressesOf(service);
  const ports = portsOf(status, service.name);
  if (urls.length + ports.length === 0) return <None />;
  return (
    <span class="stack">
      {urls.slice(0, MAX_PARTS).map((url) => (
        <Out key={url} url={url} isPlain />
      ))}
      {ports.slice(0, MAX_PARTS).map((text) => (
        <Strange key={text} text={text} isName max={300} />
      ))}
    </span>
  );
}

/** Addresses that open unchanged; else the host names, which older providers name alone. */
function addressesOf({ urls, uris }: ServiceStatus): readonly string[] {
  return (urls ?? []).length > 0 ? (urls ?? []) : (uris ?? []).map((host) => `http://${host}`);
}

function portsOf({ forwarded_ports: forwarded, ips }: LeaseStatus, service: string): readonly string[] {
  const own = Object.hasOwn(forwarded ?? {}, service) ? (forwarded?.[service] ?? []) : [];
  const leased = Object.hasOwn(ips ?? {}, service) ? (ips?.[service] ?? []) : [];
  const bracketed = (host: string): string => (ipVersion(host) === 6 ? `[${host}]` : host);
  return [
    ...own.map(({ host, externalPort, port, proto }) => `${host}:${externalPort} → ${runningWords.port(port, proto)}`),
    ...leased.map(
      ({ IP, ExternalPort, Port, Protocol, Problem }) =>
        `${bracketed(IP)}:${ExternalPort} → ${runningWords.port(Port, Protocol)}${Problem ? `: ${Problem}` : ""}`,
    ),
  ];
}

/** Why replicas stopped or do not start. */
function Why({ service: { error, pods } }: { service: ServiceStatus }) {
  const reasons = [error, ...pods.map(({ name, reason }) => reason && `${name}: ${reason}`)].filter(
    (text) => text !== undefined && text !== "",
  );
  if (reasons.length === 0) return <None />;
  return (
    <span class="stack sentence">
      {[...new Set(reasons)].slice(0, MAX_PARTS).map((text) => (
        <Strange key={text} text={text ?? ""} max={600} />
      ))}
    </span>
  );
}
