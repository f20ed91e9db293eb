import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Answer, atTerminal, openTerminal, type Screen, type Terminal } from "./at-terminal.ts";

const run = promisify(execFile);

/** Packages that the provider's guide installs, as far as a system needs them whose engine runs elsewhere. */
const PACKAGES = ["ca-certificates", "curl", "openssl", "iptables", "nftables", "netavark", "e2fsprogs", "podman"];
const ENGINE = "run/podman/podman.sock";

export interface SystemUser {
  readonly name: string;
  /** Numbers of user and group. */
  readonly ids: string;
  /** As the system names it. */
  readonly home: string;
}

export const ROOT_USER: SystemUser = { name: "root", ids: "0:0", home: "/root" };
export const ORDINARY_USER: SystemUser = { name: "an ordinary user", ids: "1000:1000", home: "/home/user" };

/**
 * A Debian of its own in a folder, without Node.js: programs, libraries, users and files are its own. Kernel, network and container
 * engine, at the place where Podman has its socket, belong to this machine. Podman reads files of a provider, so the folder that
 * `~/.svc` leads to has the same path here and there.
 */
export class FreshSystem {
  readonly root: string;
  readonly #engine: string;
  #lines = 0;

  private constructor(root: string, engine: string) {
    this.root = root;
    this.#engine = engine;
  }

  /** `engine` is the socket that the system's users may use. */
  static async make(root: string, suite: string, engine: string): Promise<FreshSystem> {
    const flags = ["--variant=minbase", `--include=${PACKAGES.join()}`];
    await run("/usr/sbin/debootstrap", [...flags, suite, root], { maxBuffer: 64 * 1024 * 1024 });
    // Users of the system enter its root, and its engine.
    chmodSync(root, 0o755);
    chmodSync(engine, 0o666);
    mkdirSync(join(root, "run", "podman"));
    writeFileSync(join(root, ENGINE), "");
    mkdirSync(join(root, ORDINARY_USER.home), { recursive: true });
    const shared = `${root}-shared`;
    mkdirSync(join(root, shared), { recursive: true });
    for (const { ids, home } of [ROOT_USER, ORDINARY_USER]) {
      const own = join(shared, home);
      mkdirSync(own, { recursive: true });
      symlinkSync(own, join(root, home, ".svc"));
      await run("chown", ["--no-dereference", ids, own, join(root, home), join(root, home, ".svc")]);
    }
    return new FreshSystem(root, engine);
  }

  /** Runs lines of a shell to their end, at a terminal. */
  type(user: SystemUser, lines: readonly string[], answers: readonly Answer[]): Promise<Screen> {
    return atTerminal(this.#command(user, lines), answers, {});
  }

  /** Starts lines of a shell that go on. */
  start(user: SystemUser, lines: readonly string[], answers: readonly Answer[]): Terminal {
    return openTerminal(this.#command(user, lines), answers, {});
  }

  /** Numbers of the processes that have the folder as their root. */
  processes(): number[] {
    const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return all.map(Number).filter((pid) => rootOf(pid) === this.root);
  }

  #command({ ids, home }: SystemUser, lines: readonly string[]): string {
    this.#lines += 1;
    const script = `/tmp/line-${this.#lines}.sh`;
    writeFileSync(join(this.root, script), ["cd", ...lines].join("\n"));
    const bind = (from: string, to: string) => `mount --bind ${from} ${this.root}/${to}`;
    const shared = `${this.root}-shared`;
    const binds = [bind("/dev/pts", "dev/pts"), bind(this.#engine, ENGINE), bind(shared, shared)];
    const mounts = [`mount -t proc proc ${this.root}/proc`, ...binds].join(" && ");
    const shell = `env -i TERM=dumb HOME=${home} PATH=/usr/local/bin:/usr/bin:/bin bash ${script}`;
    const inside = `/usr/sbin/chroot --userspec=${ids} ${this.root} ${shell}`;
    return `unshare --mount sh -c '${mounts} && exec ${inside}'`;
  }
}

/** The root folder of a process; empty for one that is gone. */
function rootOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/root`);
  } catch {
    return "";
  }
}
