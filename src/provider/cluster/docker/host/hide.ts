/** What stands in for something of the host. */
const HIDDEN = "(on the provider's host)";
/** Options of a mount tell where the engine keeps its layers. */
const MOUNT_DATA = /,?\s*mount_data="(?:[^"\\]|\\.)*"?/g;
/** Where engines keep what is theirs, wherever their folders are. */
const ENGINE_PATHS =
  /(?:unix:\/\/)?(?:\/[\w.@+-]+)*\/(?:overlay2?|overlay-containers|containers\/storage|libpod|containerd|netns|docker\.sock|podman\.sock)(?:\/[\w.@+,-]+)*/g;

/**
 * The one place that takes the host out of what tenants read: errors, statuses and events of the driver pass it on their way
 * out. Paths inside their own containers are theirs and stay.
 */
export class HostData {
  readonly #paths: string[] = [];

  constructor(paths: readonly string[]) {
    for (const path of paths) this.add(path);
  }

  /** A folder or socket of the host, with all that is below it. */
  add(path: string): void {
    if (path.length < 2 || !path.startsWith("/") || this.#paths.includes(path)) return;
    this.#paths.push(path);
    // The longest first, or the rest of a longer path would stay behind.
    this.#paths.sort((a, b) => b.length - a.length);
  }

  hide(text: string): string {
    let hidden = text.replace(MOUNT_DATA, "");
    for (const path of this.#paths) hidden = hidden.replaceAll(pathBelow(path), HIDDEN);
    return hidden.replaceAll(ENGINE_PATHS, HIDDEN).replaceAll(`unix://${HIDDEN}`, HIDDEN);
  }
}

function pathBelow(path: string): RegExp {
  return new RegExp(`${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\/+$/, "")}(?:/[\\w.@+,-]*)*`, "g");
}
