/** The first byte that the store keeps for itself. */
export const RESERVED_PREFIX = 0xff;

/**
 * Throws if two parts of a module's store share a prefix, or a prefix is not a byte. Call it where they are created.
 */
export function checkPrefixes(parts: Readonly<Record<string, { readonly prefixes: readonly number[] }>>): void {
  const owners = new Map<number, string>();
  for (const [name, { prefixes }] of Object.entries(parts)) {
    for (const prefix of prefixes) {
      if (!Number.isInteger(prefix) || prefix < 0 || prefix >= RESERVED_PREFIX)
        throw new Error(`${name}: prefix ${prefix} is not a byte below ${RESERVED_PREFIX}`);
      const owner = owners.get(prefix);
      if (owner !== undefined) throw new Error(`${owner} and ${name} both use the store prefix ${prefix}`);
      owners.set(prefix, name);
    }
  }
}
