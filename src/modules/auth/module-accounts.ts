import { moduleAddress } from "../../crypto/index.ts";
import type { ModuleAccountSpec } from "../../runtime/index.ts";
import { toHex } from "../../util/index.ts";
import { authErrors as errors } from "../../wire/index.ts";

/** A module's account with its address. */
export interface ModuleAccount extends ModuleAccountSpec {
  readonly address: Uint8Array;
}

/**
 * The accounts of modules. Filled once, when the application is put together, from each module's declaration; users
 * cannot send to them.
 */
export class ModuleAccounts {
  readonly #byName = new Map<string, ModuleAccount>();
  readonly #addresses = new Set<string>();
  /** First bytes of the addresses, which tell nearly all other addresses apart. */
  readonly #firstBytes = new Set<number | undefined>();

  register(specs: readonly ModuleAccountSpec[]): void {
    for (const spec of specs) {
      if (this.#byName.has(spec.name)) throw new Error(`module account ${spec.name} is declared twice`);
      const address = moduleAddress(spec.name);
      this.#byName.set(spec.name, { ...spec, address });
      this.#addresses.add(toHex(address));
      this.#firstBytes.add(address[0]);
    }
  }

  /** Throws on a name that no module declared. */
  require(name: string): ModuleAccount {
    const found = this.#byName.get(name);
    if (found === undefined) throw errors.unknownModuleAccount(name);
    return found;
  }

  has(address: Uint8Array): boolean {
    return this.#firstBytes.has(address[0]) && this.#addresses.has(toHex(address));
  }

  /** All module accounts, by name. */
  all(): ModuleAccount[] {
    return [...this.#byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
