import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { errorText } from "../../../util/index.ts";
import { ACCEPT_QUEUE } from "../../../util/servers/index.ts";
import { ConnectionGuard, DEFAULT_PORT_LIMITS } from "../shared/index.ts";
import type { DriverContext } from "./context.ts";
import type { Lease } from "./lease/lease.ts";
import type { ObservedPod } from "./view/pods.ts";

/** Only programs of this machine come in. */
const HOST = "127.0.0.1";
/** All clients have the same address. */
const LIMITS = { ...DEFAULT_PORT_LIMITS, connectionsPerAddress: DEFAULT_PORT_LIMITS.connectionsPerLease };

interface Forward {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  /** Known when it listens. */
  address: string | undefined;
}

/**
 * Ports of this machine that lead to pods through the API server, for clusters whose network is not reached from here. A pod
 * has one for each of its HTTP ports that is asked for; a node port of a lease leads to its ready replicas in turn.
 */
export class PodForwards {
  readonly #context: DriverContext;
  readonly #opened: (lease: Lease) => void;
  /** By namespace, then by purpose. */
  readonly #forwards = new Map<string, Map<string, Forward>>();
  readonly #guards = new Map<string, ConnectionGuard>();
  #closed = false;

  /** `opened` is called when a lease has backends that it did not have. */
  constructor(context: DriverContext, opened: (lease: Lease) => void) {
    this.#context = context;
    this.#opened = opened;
  }

  /** Addresses of this machine that lead to the ready pods; newly requested ones follow later. */
  backends(lease: Lease, service: string, port: number): string[] {
    return lease.readyPods(service, port).flatMap((pod) => {
      const next = () => (lease.podsOf(service).some(({ uid }) => uid === pod.uid) ? pod : undefined);
      const { address } = this.#ensure(lease, `pod/${pod.uid}/${port}`, { port: 0, targetPort: port, next });
      return address === undefined ? [] : [address];
    });
  }

  /** Opens what the node ports of a lease need, and closes what leads to pods that are gone. */
  update(lease: Lease): void {
    const wanted = lease.spec.ports.filter(({ proto }) => proto === "TCP");
    for (const { hostPort, service, port } of wanted) {
      const ready = () => [...lease.slots(service).values()].filter((pod) => this.#context.view.isReady(pod));
      const key = `node/${hostPort}/${service}/${port}`;
      this.#ensure(lease, key, { port: hostPort, targetPort: port, next: inTurn(ready) });
    }
    const keys = new Set(wanted.map(({ hostPort, service, port }) => `node/${hostPort}/${service}/${port}`));
    const uids = new Set(this.#context.view.pods(lease.namespace).map(({ uid }) => uid));
    for (const [key, forward] of this.#forwards.get(lease.namespace) ?? []) {
      const [kind, uid = ""] = key.split("/");
      if (kind === "node" ? keys.has(key) : uids.has(uid)) continue;
      this.#forwards.get(lease.namespace)?.delete(key);
      end(forward);
    }
  }

  remove(namespace: string): void {
    for (const forward of this.#forwards.get(namespace)?.values() ?? []) end(forward);
    this.#forwards.delete(namespace);
    this.#guards.delete(namespace);
  }

  close(): void {
    this.#closed = true;
    for (const namespace of [...this.#forwards.keys()]) this.remove(namespace);
  }

  #ensure(lease: Lease, key: string, wish: Wish): Pick<Forward, "address"> {
    const { namespace } = lease;
    const known = this.#forwards.get(namespace)?.get(key);
    if (known !== undefined) return known;
    if (this.#closed || lease.closing) return { address: undefined };
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const leave = this.#guard(namespace).admit(client.remoteAddress ?? "");
      if (leave === undefined) {
        client.destroy();
        return;
      }
      sockets.add(client);
      client.once("close", () => {
        sockets.delete(client);
        leave();
      });
      void this.#carry(client, namespace, wish);
    });
    const forward: Forward = { server, sockets, address: undefined };
    this.#forwards.set(namespace, (this.#forwards.get(namespace) ?? new Map()).set(key, forward));
    server.on("error", (error) => {
      if (forward.address === undefined) this.#forwards.get(namespace)?.delete(key);
      this.#context.log.warn("a forwarded port does not reach the lease", { namespace, err: errorText(error) });
    });
    server.listen(wish.port, HOST, ACCEPT_QUEUE, () => {
      forward.address = `${HOST}:${(server.address() as AddressInfo).port}`;
      this.#opened(lease);
    });
    return forward;
  }

  #guard(namespace: string): ConnectionGuard {
    const guard = this.#guards.get(namespace) ?? new ConnectionGuard(LIMITS);
    this.#guards.set(namespace, guard);
    return guard;
  }

  /** The client's first bytes wait until the pod is reached; if it is not, the connection ends. */
  async #carry(client: Socket, namespace: string, { targetPort, next }: Wish): Promise<void> {
    client.on("error", () => client.destroy());
    client.setTimeout(this.#guard(namespace).limits.idleMs, () => client.destroy());
    const pod = next();
    try {
      if (pod === undefined) throw new Error("no replica is ready");
      const upstream = await this.#context.api.forward({ namespace, name: pod.name }, targetPort);
      upstream.on("error", () => client.destroy());
      client.once("close", () => upstream.destroy());
      if (client.destroyed) upstream.destroy();
      client.pipe(upstream).pipe(client);
    } catch (error) {
      this.#context.log.debug("a connection did not reach its pod", { namespace, err: errorText(error) });
      client.destroy();
    }
  }
}

interface Wish {
  /** Port of this machine; 0 for any. */
  readonly port: number;
  readonly targetPort: number;
  /** The pod that a new connection goes to. */
  readonly next: () => ObservedPod | undefined;
}

function inTurn<T>(list: () => readonly T[]): () => T | undefined {
  let turn = 0;
  return () => {
    const all = list();
    turn = (turn + 1) % Math.max(all.length, 1);
    return all[turn];
  };
}

function end({ server, sockets }: Forward): void {
  server.close();
  for (const socket of sockets) socket.destroy();
}
