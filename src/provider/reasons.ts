/** The event that ends an obstacle. */
interface ObstacleRow {
  /** Nothing that passes by itself ends it: the tenant should not wait. */
  readonly lasts: boolean;
  /** When an order is checked again. */
  readonly again: "never" | "timer" | "room" | "money";
  /** For the operator. */
  readonly remedy: string;
}

/** Reasons why an order gets no bid, by the required change. */
export const OBSTACLES = {
  final: {
    lasts: true,
    again: "never",
    remedy: "this provider will not bid on this order; it may bid on another one when attributes or prices change",
  },
  size: {
    lasts: true,
    again: "room",
    remedy:
      "the cluster is too small even when it is empty: enlarge it, or overcommit with --overcommit-pct-cpu, -mem and -storage",
  },
  capacity: {
    lasts: false,
    again: "room",
    remedy: "the order gets a bid when enough leases end, or when the cluster grows",
  },
  money: {
    lasts: false,
    again: "money",
    remedy: "fund the provider's account; the order gets a bid when the funds have arrived",
  },
  cluster: {
    lasts: false,
    again: "timer",
    remedy: "fix what the reason names; the provider then checks the order again",
  },
  moment: { lasts: false, again: "timer", remedy: "the provider will check the order again" },
} as const satisfies Readonly<Record<string, ObstacleRow>>;
export type Obstacle = keyof typeof OBSTACLES;

/** Names of the obstacles, as metrics and commands show them. */
export const OBSTACLE_NAMES = Object.keys(OBSTACLES).filter(isObstacle);

/** Obstacles for which a condition on their row holds. */
export function obstaclesWith(condition: (row: ObstacleRow) => boolean): ReadonlySet<Obstacle> {
  return new Set(OBSTACLE_NAMES.filter((name) => condition(OBSTACLES[name])));
}

export function isObstacle(name: string): name is Obstacle {
  return Object.hasOwn(OBSTACLES, name);
}

/** A reason not to bid on an order, or not to start a container. */
export interface ReasonRow {
  readonly obstacle: Obstacle;
  /** Sentence for tenants and strangers. */
  readonly tenant: string;
  /** The tenant's next step. */
  readonly advice: string;
  /** Sentence for the operator. */
  readonly operator: string;
  /** The operator's next step. */
  readonly remedy: string;
}

const WAIT = "wait until its operator has mended it, or deploy at another provider";

/** A fault of the machine: it concerns every lease, and passes when the operator has mended it. */
function host(tenant: string, operator: string, remedy: string): ReasonRow {
  return { obstacle: "cluster", tenant, advice: WAIT, operator, remedy };
}

/** Faults of the host that keep all containers from running. */
export const HOST_REASONS = {
  engineAway: {
    ...host(
      "the provider's cluster does not answer now",
      "the container engine or the cluster does not answer",
      "start it (systemctl start podman.socket or docker); containers and their state are kept",
    ),
    advice: "containers and their state are kept: try again in a moment",
  },
  limits: host(
    "the provider's host cannot give a container its process limits",
    "the container engine may not set the resource limits of a container",
    "start the engine with higher limits (LimitNPROC=, LimitNOFILE= and LimitSIGPENDING=infinity in its unit), or give it CAP_SYS_RESOURCE",
  ),
  seccomp: host(
    "the provider's host cannot filter the system calls of a container",
    "the container engine cannot apply the seccomp filter of a container",
    "use a kernel with CONFIG_SECCOMP_FILTER and an engine and runtime built with libseccomp",
  ),
  apparmor: host(
    "the provider's host cannot confine a container",
    "the container engine cannot apply its AppArmor profile",
    "install apparmor and apparmor-utils and start the engine again, or turn AppArmor off in the engine's settings",
  ),
  cgroup: host(
    "the provider's host cannot limit the memory and processor time of a container",
    "the container engine cannot make the control group of a container",
    "mount the controllers cpu, memory and pids, or set cgroup_manager (Podman) or native.cgroupdriver (Docker) to cgroupfs",
  ),
  mount: host(
    "the provider's host cannot mount the file systems of a container",
    "the container engine cannot mount the file systems of a container",
    "look at the engine's log and at dmesg; overlay and ext4 must be mountable where the engine and the provider keep their data",
  ),
  network: host(
    "the provider's host cannot connect a container to its network",
    "the container engine cannot make the network of a container",
    "install netavark and aardvark-dns for Podman, and iptables; a container of your own (podman run -p 80 ...) shows more",
  ),
  space: host(
    "the provider's disk is full",
    "the disk of the container engine or of the provider is full",
    "make room on the engine's disk: podman system prune, or docker system prune",
  ),
  hook: host(
    "the provider's host does not let a container start",
    "a hook of the container runtime failed",
    "mend or remove the hook (/usr/share/containers/oci/hooks.d, /etc/containers/oci/hooks.d, or the runtime of Docker)",
  ),
  architecture: host(
    "the provider's host cannot run programs of its own architecture",
    "the container engine cannot run a program of this machine's architecture",
    "use an engine and runtime of the machine's own architecture, or leave the emulation that the engine runs in",
  ),
  timeout: host(
    "containers do not start in time at the provider",
    "a container does not start in time",
    "look at the load of the machine and at the engine's log, and start the engine again",
  ),
  ingress: host(
    "requests do not reach containers at the provider",
    "a container runs, and a request through the ingress does not reach it",
    "look at the firewall of the machine: the ingress connects to 127.0.0.1 and to the container's network",
  ),
  runtime: host(
    "the provider's container runtime is missing",
    "the container engine lacks its runtime for containers",
    "install it (runc or crun), or name another one with --cluster-runtime-class",
  ),
  firewall: {
    ...host(
      "the provider cannot keep tenants apart on its network",
      "network rules that keep tenants off the host cannot be set",
      "run the provider as root on Linux with nftables installed",
    ),
    advice: "the provider's operator has to start it as root; on a localnet of your own, run svc localnet as root",
  },
  volumes: host(
    "the provider cannot make volumes of a fixed size",
    "volumes and layers of a fixed size cannot be made",
    "mend what the reason names, or accept unlimited ones: --cluster-volume-sizes none",
  ),
  setup: host(
    "the provider's cluster is not set up completely",
    "the cluster lacks something that the provider needs",
    "mend what the reason names; svc provider check shows all of it",
  ),
  engine: host(
    "the provider's container engine refuses to start a container",
    "the container engine does not start a container",
    "look at the engine's log, and start a container by hand to see more",
  ),
  disk: host(
    "the provider's disk is full",
    "the disk of the provider's folder is nearly full",
    "make room, or set --provider-least-free-disk",
  ),
  probing: host(
    "the provider has just started and bids in a moment",
    "a container is being tried before the first bid",
    "wait a moment",
  ),
  draining: host(
    "the provider takes no new leases now",
    "the operator drains this provider",
    "svc provider drain --undo",
  ),
} as const satisfies Readonly<Record<string, ReasonRow>>;
export type HostReason = keyof typeof HOST_REASONS;

/** Why no containers can run, or no bids are made. */
export interface HostFault {
  readonly reason: HostReason;
  /** For the operator: the sentence, the cause and the remedy. */
  readonly text: string;
}

/** Characters of a cause: engines may say much. */
const MOST_CAUSE = 400;

/** A fault with its cause in the words of the engine or the system, which only the operator reads. */
export function hostFault(reason: HostReason, cause = ""): HostFault {
  const { operator, remedy } = HOST_REASONS[reason];
  return { reason, text: `${operator}${cause === "" ? "" : ` (${cause.slice(0, MOST_CAUSE)})`}: ${remedy}` };
}

/** A reason about one order, with the same text for operator and tenant. */
function order(obstacle: Obstacle, sentence: string, advice: string): ReasonRow {
  return { obstacle, tenant: sentence, advice, operator: sentence, remedy: OBSTACLES[obstacle].remedy };
}

/** A reason of this provider alone, whose cause tenants do not read. */
function own(sentence: string, operator: string, remedy: string): ReasonRow {
  return {
    obstacle: "moment",
    tenant: sentence,
    advice: "wait: the provider looks at the order again",
    operator,
    remedy,
  };
}

const REQUEST_LESS = "request less cpu, memory, storage, ports, addresses or fewer replicas";
const LATER = "wait: the provider looks at the order again";

/** Reasons not to bid on one order. More specific sentences may replace these. */
export const ORDER_REASONS = {
  gone: order("final", "the order is no longer open", "run the same command again: it opens a new order"),
  attribute: order(
    "final",
    "the order requires an attribute that this provider does not have",
    "change or remove the attribute under placement in the deployment file",
  ),
  auditor: order(
    "final",
    "the order requires the signature of an auditor that this provider does not have",
    "change or remove signedBy under placement in the deployment file",
  ),
  tee: order(
    "final",
    "the order requires a protected machine, which this provider does not have",
    "remove tee: under params, or wait for a provider of protected machines",
  ),
  interconnect: order(
    "final",
    "the order requests an interconnect of GPUs, this provider has none",
    "remove interconnect: of the gpu and the attribute under placement, or wait for a provider that has one",
  ),
  unasked: order(
    "final",
    "this provider serves only orders that ask for an attribute of its own",
    "add that attribute under placement in the deployment file",
  ),
  lacking: order(
    "final",
    "the order requests something that this provider does not have",
    "request what this provider has, or wait for another provider",
  ),
  memory: order(
    "final",
    "a service of the order has less memory than a container needs",
    "write a larger memory.size in the deployment file and run the same command again",
  ),
  volumeCount: order("final", "a service of the order has too many volumes", "use fewer volumes for one service"),
  price: order(
    "final",
    "the price of this provider is above that of the order",
    "raise the amount under pricing in the deployment file and run the same command again",
  ),
  size: order("size", "the provider is too small for the order", `${REQUEST_LESS}, or wait for another provider`),
  capacity: order("capacity", "the provider has no room now", `${REQUEST_LESS}, or wait until others have ended`),
  money: order(
    "money",
    "the provider has too little money for the deposit of a bid",
    "the provider's operator has to fund its account",
  ),
  full: order("moment", "the order has as many bids as it may have, none of them dearer than ours", LATER),
  paused: order(
    "moment",
    "nobody accepted its last bid in time",
    "it bids again after a pause: run the same command again, or keep waiting",
  ),
  spent: order(
    "final",
    "it bid on this order as often as it may, and nobody accepted a bid",
    "run the same command again: it opens a new order",
  ),
  refused: order("final", "the chain refused the bid", "run the same command again, or choose another provider"),
  unsent: order("moment", "the chain did not take the bid now", LATER),
  noPrice: own(
    "the provider has no price for the order now",
    "there is no price",
    "look at the price script (--bid-price-script-path) and what it prints",
  ),
  unwritten: own(
    "the provider could not reserve room for the order now",
    "the reservation could not be written",
    "look at the disk of the provider's folder",
  ),
  unjudged: own(
    "the provider could not judge the order now",
    "the check of the order broke off",
    "look at the node (--node) and at the log of the provider",
  ),
} as const satisfies Readonly<Record<string, ReasonRow>>;

/** The one table of reasons: whether they last, the texts for tenants and operators, and the remedies of both. */
export const REASONS = { ...HOST_REASONS, ...ORDER_REASONS } as const;
export type Reason = keyof typeof REASONS;
