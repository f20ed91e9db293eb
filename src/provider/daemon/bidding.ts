import { causeText, type Logger } from "../../util/index.ts";
import { DRAINING, isDraining } from "../control/index.ts";
import type { Inventory } from "../inventory/index.ts";
import type { Probe } from "../probe/index.ts";
import { type HostFault, hostFault } from "../reasons.ts";
import type { ProviderConfig } from "./config.ts";
import type { DiskGuard } from "./disk.ts";

export interface BiddingOptions {
  readonly config: Pick<ProviderConfig, "driver" | "stateDir">;
  readonly disk: DiskGuard;
  readonly inventory: Inventory;
  readonly probe: Pick<Probe, "fault" | "settled">;
  readonly log: Logger;
  /** Withdraws every open bid. */
  readonly withdrawOpen: () => void;
  /** The cluster has more than before. */
  readonly roomFound: () => void;
  /** How many leases there are. */
  readonly leases: () => number;
}

/** Whether the provider bids at present, which drain, disk and cluster decide, and the cluster's capacity for bids. */
export class Bidding {
  readonly #options: BiddingOptions;
  #begun = false;
  #isDraining = false;
  /** Whether the disk was short of space at the last check. */
  #wasShort = false;
  #obstacle: HostFault | undefined;
  #looking: Promise<HostFault | undefined> | undefined;

  constructor(options: BiddingOptions) {
    this.#options = options;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Why the provider did not bid at the last look; undefined if it did. */
  get obstacle(): HostFault | undefined {
    return this.#obstacle;
  }

  /** Runs before the first bid. Rejects if the cluster does not tell its capacity. */
  async begin(): Promise<void> {
    await this.lookAtDrain();
    await this.lookAtDisk();
    await this.#listNodes();
    await this.look();
    this.#begun = true;
  }

  /**
   * Why the provider does not bid. A cluster that would refuse every deployment, or that does not answer, gets no bids: logged
   * before the first bid, and when it changes. A burst of orders shares one look.
   */
  look(): Promise<HostFault | undefined> {
    this.#looking ??= this.#find().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** The same for an order, which waits for a trial that is under way. */
  async lookForOrder(): Promise<HostFault | undefined> {
    await this.#options.probe.settled();
    return this.look();
  }

  /** Withdraws open bids, repeatedly: one may have been on its way. Leases keep running. */
  async lookAtDrain(): Promise<void> {
    const { config, log, withdrawOpen, leases } = this.#options;
    const wasDraining = this.#isDraining;
    this.#isDraining = isDraining(config.stateDir);
    if (this.#isDraining) withdrawOpen();
    if (this.#isDraining === wasDraining) return;
    log.info(this.#isDraining ? "draining: no new leases" : "draining ended", { leases: leases() });
    if (this.#begun) await this.look();
  }

  /** Capacity counted while the disk was full is out of date as soon as there is room again. */
  async lookAtDisk(): Promise<void> {
    const { disk } = this.#options;
    disk.look();
    const isShort = disk.obstacle() !== undefined;
    const isOver = this.#wasShort && !isShort;
    this.#wasShort = isShort;
    if (isOver) await this.lookAtNodes();
  }

  /** If the cluster does not answer, the last capacity seen stays. */
  async lookAtNodes(): Promise<void> {
    const { config, inventory, log, roomFound } = this.#options;
    try {
      if (inventory.observe(await config.driver.capacity())) roomFound();
    } catch (error) {
      log.warn("inventory not refreshed", { err: causeText(error) });
    }
    await this.look();
  }

  async #listNodes(): Promise<void> {
    const { config, inventory, log } = this.#options;
    const capacity = await config.driver.capacity();
    inventory.observe(capacity);
    log.info("inventory fetched", { module: "provider-cluster", nodes: capacity.nodes.length });
    for (const { name, cpu, memory, storage } of inventory.available()) {
      const left = { "available-cpu": cpu, "available-memory": memory, "available-storage": storage };
      log.info("node resources", { module: "provider-cluster", "node-id": name, ...left });
    }
  }

  async #find(): Promise<HostFault | undefined> {
    const { config, disk, probe } = this.#options;
    const cluster = () => config.driver.obstacle().catch((error) => hostFault("engineAway", causeText(error)));
    const drain = this.#isDraining ? { reason: "draining" as const, text: DRAINING } : undefined;
    const obstacle = drain ?? disk.obstacle() ?? (await cluster()) ?? probe.fault;
    this.#note(obstacle);
    return obstacle;
  }

  #note(obstacle: HostFault | undefined): void {
    const { log } = this.#options;
    if (this.#obstacle?.text === obstacle?.text) return;
    this.#obstacle = obstacle;
    if (obstacle === undefined) log.info("this provider bids again");
    else
      log[obstacle.reason === "draining" ? "info" : "error"]("this provider does not bid", { reason: obstacle.text });
  }
}
