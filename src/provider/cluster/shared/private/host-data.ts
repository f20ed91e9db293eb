import { isIP } from "node:net";
import { SvcError } from "../../../../util/index.ts";
import type { ServiceStatus } from "../../contract/index.ts";
import { isLoopback, isPublicAddress } from "./addresses.ts";

/** Replaces something of the host. */
const HIDDEN = "(on the provider's host)";
/** Options of a mount tell where the engine keeps its layers. */
const MOUNT_DATA = /,?\s{0,8}mount_data="(?:[^"\\]|\\.)*"?/g;
/** Each path is checked once as a whole: a tenant may have written a long one. */
const PATHS = /(?:unix:\/\/)?(?:\/[\w.@+,-]+)+/g;
/** Places of engines' own data, in any folder. */
const OF_ENGINE =
  /\/(?:overlay2?|overlay-containers|containers\/storage|libpod|containerd|netns|docker\.sock|podman\.sock)/;

/**
 * Replaces an address of a private network, whatever its source, so that the replacement does not reveal used
 * addresses.
 */
const ADDRESS = "(a private address)";
/** Replaces the name of a machine. */
const NODE = "(a node)";
/** Possible names of a machine. */
const NAMES = /[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/g;
/** Text that may be an address; a port or tag may follow a colon. */
const V4 = /(?<![\w.:])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)/g;
const V6 = /(?<![\w:.])[0-9a-f:]{1,38}(?:[0-9a-f]|::)(?:\d{1,3}(?:\.\d{1,3}){3})?(?!\w|:[\w:]|\.\d)/gi;

/**
 * The one place that removes data of the host from tenants' output: errors, statuses and events pass it on their way
 * out. Paths inside their own containers stay, and so do public addresses.
 */
export class HostData {
  readonly #paths: string[] = [];
  readonly #isNode: (name: string) => boolean;

  /** With names of machines, where there are several. */
  constructor(paths: readonly string[], isNode: (name: string) => boolean = () => false) {
    this.#isNode = isNode;
    for (const path of paths) this.add(path);
  }

  /** A folder or socket of the host, with all that is below it. */
  add(path: string): void {
    if (path.length < 2 || !path.startsWith("/") || this.#paths.includes(path)) return;
    this.#paths.push(path);
    // The longest first, or the rest of a longer path would be left.
    this.#paths.sort((a, b) => b.length - a.length);
  }

  hide(text: string): string {
    let hidden = text.replace(MOUNT_DATA, "");
    for (const path of this.#paths) hidden = hidden.replaceAll(pathBelow(path), HIDDEN);
    hidden = hidden.replaceAll(PATHS, withoutEngine).replaceAll(`unix://${HIDDEN}`, HIDDEN);
    hidden = hidden.replaceAll(NAMES, (name) => (this.#isNode(name) ? NODE : name));
    return hidden.replaceAll(V6, withoutPrivate).replaceAll(V4, withoutPrivate);
  }

  /** A service's status as its tenant may read it. */
  service(status: ServiceStatus): ServiceStatus {
    const replicas = status.replicas.map((each) =>
      each.reason === undefined ? each : { ...each, reason: this.hide(each.reason) },
    );
    return { ...status, replicas, ...(status.error === undefined ? {} : { error: this.hide(status.error) }) };
  }

  /** An error of the same kind without the host; its cause is for the provider's log. */
  error(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    const { message } = error;
    const told = this.hide(message);
    if (!(error instanceof SvcError)) {
      if (told === message) return error;
      return Object.assign(new Error(told, { cause: error }), "code" in error ? { code: error.code } : {});
    }
    const hint = error.hint === undefined ? undefined : this.hide(error.hint);
    if (told === message && hint === error.hint) return error;
    const options = { cause: error, ...(hint === undefined ? {} : { hint }) };
    return new SvcError(error.codespace, error.code, told, options);
  }
}

function withoutEngine(path: string): string {
  return OF_ENGINE.test(path) ? HIDDEN : path;
}

function withoutPrivate(text: string): string {
  if (isIP(text) === 0 || isLoopback(text) || isPublicAddress(text, {})) return text;
  return ADDRESS;
}

function pathBelow(path: string): RegExp {
  return new RegExp(`${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\/+$/, "")}(?:/[\\w.@+,-]*)*`, "g");
}
