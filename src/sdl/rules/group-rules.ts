import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { show } from "../errors.ts";
import { formatBytes, type SdlLimits } from "../limits.ts";
import type { SdlFile, ServiceDecl } from "../model.ts";
import { TEE_ATTRIBUTE } from "../plan/groups.ts";
import type { GroupPlan, UnitPlan } from "../plan/plan.ts";
import { checkAttributeCount } from "../read/attributes.ts";
import { DEFAULT_INTERCONNECT } from "../read/gpu.ts";
import type { Place, Report } from "../report.ts";
import { groupsFault } from "./chain-rules.ts";
import { isForeign } from "./orderable.ts";

/** Offered by providers whose hosts share one fast network for their GPUs. */
const INTERCONNECT_ATTRIBUTE = "capabilities/gpu-interconnect";

/** Checks what concerns whole groups: limits of the chain, one denomination, and that something is reachable. */
export function checkGroups(file: SdlFile, groups: readonly GroupPlan[], scope: GroupScope): void {
  const checker = new GroupChecker(scope);
  checker.groupCount(groups);
  checker.denomination(groups);
  checker.reachable(file, groups);
  for (const group of groups) checker.group(group);
}

export interface GroupScope {
  readonly report: Report;
  readonly limits: SdlLimits;
}

/**
 * The chain's own rules over the final groups. Faults that a file can have are reported where the value is read; this
 * check prevents a rejection by the chain after the fee is paid.
 */
export function checkOnChain(groups: readonly GroupSpec[], plan: readonly GroupPlan[], scope: GroupScope): void {
  // A file that is judged for no chain may name auditors of another network.
  const judged = groups.map(withoutForeign);
  const fault = groupsFault(judged, scope.limits, groups[0]?.resources[0]?.price?.denom ?? "");
  const place = plan[fault?.group ?? 0]?.placement.place;
  if (fault === undefined || place === undefined) return;
  const problem = `the chain refuses this placement: ${fault.text}`;
  scope.report.error(place, "value", { problem, remedy: "change what it names" });
}

function withoutForeign(group: GroupSpec): GroupSpec {
  const { requirements } = group;
  if (requirements?.signedBy === undefined) return group;
  const own = (auditors: readonly string[]) => auditors.filter((address) => !isForeign({ address }));
  const { anyOf, allOf } = requirements.signedBy;
  const signedBy = { ...requirements.signedBy, anyOf: own(anyOf), allOf: own(allOf) };
  return { ...group, requirements: { ...requirements, signedBy } };
}

class GroupChecker {
  readonly #report: Report;
  readonly #limits: SdlLimits;

  constructor({ report, limits }: GroupScope) {
    this.#report = report;
    this.#limits = limits;
  }

  groupCount(groups: readonly GroupPlan[]): void {
    const surplus = groups[this.#limits.groupsMax];
    if (surplus === undefined) return;
    this.#tooMuch(surplus.placement.place, `${groups.length} placements`, `at most ${this.#limits.groupsMax}`);
  }

  #tooMuch(place: Place, what: string, limit: string): void {
    this.#report.error(place, "range", { problem: `${what} in one deployment`, remedy: `write ${limit}` });
  }

  /** A deployment pays from one account in one kind of coin. */
  denomination(groups: readonly GroupPlan[]): void {
    const prices = groups.flatMap((group) => group.units.map((unit) => unit.price));
    const first = prices[0];
    for (const price of new Set(prices)) {
      if (first === undefined || price.denom === first.denom) continue;
      const problem = `the price is in ${show(price.denom)}, another one of this file in ${show(first.denom)}`;
      this.#report.error(price.place, "value", { problem, remedy: "write one denomination in all prices" });
    }
  }

  reachable(file: SdlFile, groups: readonly GroupPlan[]): void {
    const open = groups.some((group) => group.services.some(({ expose }) => expose.some(({ global }) => global)));
    const first = [...file.services.values()][0];
    if (open || first === undefined) return;
    this.#report.error(first.place, "missing", {
      problem: "no service can be reached from outside",
      remedy: "write to: [{global: true}] for at least one exposed port",
    });
  }

  group(group: GroupPlan): void {
    this.#rows(group);
    this.#total(group, { what: "cores", max: this.#limits.groupCpuMax, format: cores }, ({ compute }) => compute.cpu);
    this.#total(
      group,
      { what: "memory", max: this.#limits.groupMemoryMax, format: formatBytes },
      ({ compute }) => compute.memory,
    );
    this.#total(group, { what: "storage", max: this.#limits.groupStorageMax, format: formatBytes }, storage);
    this.#total(group, { what: "GPUs", max: this.#limits.groupGpuMax, format: String }, ({ compute }) => compute.gpu);
    const isProtected = group.services.some(({ service }) => service.params?.tee !== undefined);
    const count = group.placement.attributes.length + Number(isProtected);
    checkAttributeCount(this.#report, group.placement.place, { count, max: this.#limits.groupAttributesMax });
    this.#protection(group);
    this.#interconnect(group);
  }

  #rows({ placement, units }: GroupPlan): void {
    const { groupUnitsMax, unitCountMax } = this.#limits;
    if (units.length > groupUnitsMax) {
      this.#tooMuch(placement.place, `${units.length} kinds of replicas`, `at most ${groupUnitsMax} in one placement`);
    }
    for (const { count, compute } of units) {
      if (count <= unitCountMax) continue;
      this.#tooMuch(placement.place, `${count} replicas of profile ${show(compute.name)}`, `at most ${unitCountMax}`);
    }
  }

  #total(
    { placement, units }: GroupPlan,
    bound: { readonly what: string; readonly max: bigint; readonly format: (value: bigint) => string },
    amount: (unit: UnitPlan) => bigint,
  ): void {
    const total = units.reduce((sum, unit) => sum + amount(unit) * BigInt(unit.count), 0n);
    if (total <= bound.max) return;
    const problem = `${bound.format(total)} ${bound.what} in placement ${show(placement.name)} is too much`;
    const remedy = `write at most ${bound.format(bound.max)} over all replicas`;
    this.#report.error(placement.place, "range", { problem, remedy });
  }

  /** Providers are found by the attribute of the placement; a group of its own is for all replicas or for named ones. */
  #interconnect({ placement, units }: GroupPlan): void {
    const asking = units.filter(({ compute }) => compute.interconnect !== undefined);
    const [first] = asking;
    if (first === undefined) return;
    if (!placement.attributes.some(({ key, value }) => key === INTERCONNECT_ATTRIBUTE && value === "true")) {
      const problem = `profile ${show(first.compute.name)} asks for an interconnect, placement ${show(placement.name)} does not`;
      const remedy = `write attributes: {${INTERCONNECT_ATTRIBUTE}: "true"} in the placement`;
      this.#report.error(placement.place, "missing", { problem, remedy });
    }
    const named = asking.filter(({ compute }) => compute.interconnect !== DEFAULT_INTERCONNECT);
    if (named.length === 0 || named.length === asking.length) return;
    const problem = `placement ${show(placement.name)} has interconnects with and without a group`;
    this.#report.error(placement.place, "conflict", { problem, remedy: "write one form in all of its profiles" });
  }

  /** One kind of protected machine per group, because one provider runs it. */
  #protection({ placement, services }: GroupPlan): void {
    const attribute = placement.attributes.find(({ key }) => key === TEE_ATTRIBUTE);
    let known: { readonly tee: string; readonly service: ServiceDecl } | undefined;
    for (const { service, compute } of services) {
      const tee = service.params?.tee;
      if (service.params === undefined || tee === undefined) continue;
      known ??= { tee, service };
      if (attribute !== undefined) {
        const problem = `placement ${show(placement.name)} has the attribute ${TEE_ATTRIBUTE}, which tee sets`;
        const remedy = `remove the attribute ${TEE_ATTRIBUTE} from the placement, or tee from the service`;
        this.#report.error(service.params.place, "conflict", { problem, remedy });
      }
      if (tee !== known.tee) {
        const problem = `tee ${show(tee)} in placement ${show(placement.name)} beside ${show(known.tee)} of service ${show(known.service.name)}`;
        this.#report.error(service.params.place, "conflict", {
          problem,
          remedy: "write one kind for all services of a placement",
        });
      }
      if (tee === "cpu-gpu" && compute.gpu === 0n) {
        const problem = `tee "cpu-gpu", but profile ${show(compute.name)} has no GPU`;
        this.#report.error(service.params.place, "value", {
          problem,
          remedy: "write tee: cpu, or gpu: in the profile",
        });
      }
    }
  }
}

function storage({ compute }: UnitPlan): bigint {
  return compute.volumes.reduce((sum, volume) => sum + volume.size, 0n);
}

function cores(milli: bigint): string {
  return `${Number(milli) / 1000}`;
}
