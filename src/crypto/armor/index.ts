/** Keys as text: ASCII armor, and private keys under a passphrase in it. */
export { type ArmorBlock, decodeArmor, encodeArmor } from "./ascii.ts";
export * from "./key.ts";
