import { existsSync } from "node:fs";
import { certificateFolders, gatewayHost, tlsOrigin } from "../../../provider/index.ts";
import { EXIT, readSetting } from "../../../util/index.ts";
import { encodeAddress, isAddress } from "../../../wire/index.ts";
import { flagSettings } from "../../command/flag-settings.ts";
import type { Flags } from "../../command/flags.ts";
import { homeOf } from "../../command/home.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { findKey } from "../../keys/keys.ts";
import { signingKeyName } from "../../keys/signer.ts";
import { addressArgument } from "../../query/ask.ts";
import { printResult } from "../../terminal/output.ts";
import { withSession } from "../client/session.ts";
import { stateOfFolder } from "../operate/running.ts";
import { BIDS, FEES } from "../run/bid-settings.ts";
import { chosenCluster } from "../run/cluster.ts";
import { providerDir, readCertificateSources, readClusterSettings, readSettings } from "../run/config.ts";
import type { ListenAddress } from "../run/parsers.ts";
import { CLUSTER, LEASES } from "../run/settings.ts";
import { balanceCheck, certificateCheck, hostCertificatesCheck } from "./account.ts";
import { browsersCheck } from "./browsers.ts";
import { type ChainFacts, chainFacts, clockCheck, nodeCheck, recordCheck } from "./chain.ts";
import { type Check, examine, type Finding } from "./finding.ts";
import { answersCheck, dnsCheck, gatewayCheck, shownCertificateCheck, visitOf } from "./gateway.ts";
import {
  containerChecks,
  diskCheck,
  domainCheck,
  type NodePorts,
  nodePortsCheck,
  portCheck,
  type Running,
  runningCheck,
  settingsCheck,
} from "./host.ts";

/** `svc provider check`. */
export async function providerCheck(input: CommandInput): Promise<number> {
  const context = createContext(input);
  const address = await accountOf(context);
  const chain = await context.chain();
  return withSession(chain, async () => printFindings(await providerFindings(context, address), context));
}

/** Findings about the provider of an account, by the flags with which it runs. */
export async function providerFindings(context: CliContext, address: string): Promise<Finding[]> {
  const provider = async () => address;
  const facts = chainFacts(await context.chain(), provider);
  const visit = visitOf(facts);
  const source = flagSettings(context.flags);
  const money = { fee: readSetting(FEES.fees, source), deposit: readSetting(BIDS.bidDeposit, source) };
  return examine([
    nodeCheck(facts),
    clockCheck(facts, Date.now),
    recordCheck(facts, provider),
    balanceCheck(facts, provider, money),
    certificateCheck(facts, { home: context.home, provider, now: Date.now }),
    ...(await hostChecks(context, facts)),
    dnsCheck(facts),
    gatewayCheck(visit),
    shownCertificateCheck(visit),
    browsersCheck(facts, browserOrigin(context.flags)),
  ]);
}

/** Where the provider's own ingress answers browsers; undefined without one that has TLS. */
function browserOrigin(flags: Flags): string | undefined {
  const source = flagSettings(flags);
  const address = readSetting(LEASES.ingressTlsListenAddress, source);
  if (address === undefined || isExternal(flags) || chosenCluster(flags).capabilities.carriesTraffic) return undefined;
  return tlsOrigin(gatewayHost(readSetting(LEASES.deploymentIngressDomain, source)), address.port);
}

/** An address needs no keyring, and so no passphrase. */
async function accountOf(context: CliContext): Promise<string> {
  const from = context.flags.optional("from");
  if (from !== undefined && isAddress(from)) return from;
  const key = await findKey(await context.keyring(), await signingKeyName(context), context.keys);
  return encodeAddress(key.address);
}

async function hostChecks({ flags, home }: CliContext, facts: ChainFacts): Promise<Check[]> {
  const source = flagSettings(flags);
  const folder = providerDir(home);
  const cluster = chosenCluster(flags);
  const { carriesTraffic, nodePortAddress } = cluster.capabilities;
  const runtime = readSetting(CLUSTER.clusterRuntimeClass, source);
  let asked: ReturnType<Running> | undefined;
  const running: Running = () => {
    asked ??= stateOfFolder(folder, home);
    return asked;
  };
  return [
    settingsCheck(() => {
      readSettings(flags);
      readClusterSettings(flags);
    }),
    ...(await cluster.checks({ record: facts.record, runtime })),
    ...containerChecks(cluster, flags, running),
    diskCheck(folder, readSetting(CLUSTER.providerLeastFreeDisk, source)),
    ...listenerChecks(flags, running),
    ...(carriesTraffic ? [] : ingressChecks(flags, running)),
    ...(nodePortAddress === undefined ? [] : [nodePortsCheck(nodePortsOf(flags, nodePortAddress), running)]),
    domainCheck(readSetting(LEASES.deploymentIngressDomain, source)),
    runningCheck(running),
  ];
}

/** Ports besides the ingress's; ports that are not opened have no check. */
function listenerChecks(flags: Flags, running: Running): Check[] {
  const source = flagSettings(flags);
  const listeners = [
    { name: "gateway port", setting: LEASES.gatewayListenAddress },
    { name: "gateway gRPC port", setting: LEASES.gatewayGrpcListenAddress },
    { name: "metrics port", setting: LEASES.metricsListener },
  ];
  return listeners.flatMap(({ name, setting }) => {
    const address = readSetting<ListenAddress | undefined>(setting, source);
    return address === undefined ? [] : [portCheck({ name, option: `--${setting.name}`, ...address }, running)];
  });
}

function nodePortsOf(flags: Flags, host: string): NodePorts {
  const source = flagSettings(flags);
  return {
    range: readSetting(CLUSTER.clusterNodePortRange, source),
    host,
    wanted: readSetting(CLUSTER.clusterNodePortQuantity, source),
  };
}

function ingressChecks(flags: Flags, running: Running): Check[] {
  const address = readSetting(LEASES.ingressListenAddress, flagSettings(flags));
  const ingress = { name: "ingress port", option: "--ingress-listen-address" };
  const ports = isExternal(flags) ? [] : [portCheck({ ...ingress, ...address }, running)];
  return [...ports, ...tlsChecks(flags, running)];
}

/** Whether a proxy of the operator's listens in place of the provider. */
function isExternal(flags: Flags): boolean {
  return readSetting(LEASES.ingress, flagSettings(flags)) === "external";
}

/** Nothing to check where host names do not answer over TLS. */
function tlsChecks(flags: Flags, running: Running): Check[] {
  const address = readSetting(LEASES.ingressTlsListenAddress, flagSettings(flags));
  if (address === undefined) return [];
  const sources = readCertificateSources(flags);
  const own = certificateFolders(providerDir(homeOf(flags)), sources).slice(sources.certificates.length);
  // The provider makes its own folder at its first start.
  const folders = [...sources.certificates, ...own.filter((folder) => existsSync(folder))];
  const port = { name: "ingress TLS port", option: "--ingress-tls-listen-address", ...address };
  return [
    ...(isExternal(flags) ? [] : [portCheck(port, running)]),
    hostCertificatesCheck({ folders, isKept: own.length > 0, now: Date.now }),
  ];
}

/** `svc provider verify ADDRESS`: needs no key. */
export async function providerVerify(input: CommandInput): Promise<number> {
  const address = addressArgument(input.args[0] ?? "", "address", input.flags);
  const context = createContext(input);
  const chain = await context.chain();
  return withSession(chain, async () => {
    const provider = async () => address;
    const facts = chainFacts(chain, provider);
    const visit = visitOf(facts);
    const checks = [
      nodeCheck(facts),
      recordCheck(facts, provider),
      dnsCheck(facts),
      gatewayCheck(visit),
      shownCertificateCheck(visit),
      answersCheck(facts, visit),
      browsersCheck(facts),
    ];
    return printFindings(await examine(checks), context);
  });
}

const MARKS = { ok: "ok     ", failed: "FAILED ", unknown: "unknown" } as const;

/** Prints the findings. The exit code is 0 only if all are ok, and none is unknown. */
function printFindings(findings: readonly Finding[], { output, io }: Pick<CliContext, "output" | "io">): number {
  const isWell = findings.every(({ state }) => state === "ok");
  if (output === "json") printResult({ ok: isWell, checks: findings.map((each) => ({ ...each })) }, output, io);
  else io.out(textOf(findings));
  return isWell ? EXIT.done : EXIT.failed;
}

function textOf(findings: readonly Finding[]): string {
  const width = findings.reduce((most, { check }) => Math.max(most, check.length), 0);
  return findings
    .map(({ check, state, detail, fix }) => {
      const remedy = fix === undefined ? "" : `${" ".repeat(MARKS.ok.length + width + 4)}fix: ${fix}\n`;
      return `${MARKS[state]}  ${check.padEnd(width)}  ${detail}\n${remedy}`;
    })
    .join("");
}
