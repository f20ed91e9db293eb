import { BECH32_PREFIX, COIN_TYPE, NATIVE_DENOM } from "../../util/index.ts";
import type { AminoNames, Namespace } from "../../wire/index.ts";

/** How one chain of the ecosystem differs from another: enough to be a client of it. */
export interface NetworkProfile {
  readonly name: string;
  /** Prefix of its addresses: `svc` makes `svc1...`, `svcvaloper1...` and `svcpub1...`. */
  readonly bech32Prefix: string;
  /** Second number of the derivation path of its keys (SLIP-44). */
  readonly coinType: number;
  /** Denomination that its fees are paid in. */
  readonly denom: string;
  /** First word of the names of its messages and queries. */
  readonly namespace: Namespace;
  /** Names of messages in signatures of mode amino-json: `older` before release 0.46. */
  readonly aminoNames: AminoNames;
  /** The block from which answers are verified. */
  readonly trust: TrustSettings;
}

/** Texts of `client.toml`, checked when it was read; empty where nothing is set. */
export interface TrustSettings {
  readonly height: string;
  readonly hash: string;
  readonly period: string;
  /** Addresses of nodes, separated by commas. */
  readonly witnesses: string;
}

const NO_TRUST: TrustSettings = { height: "", hash: "", period: "", witnesses: "" };

export const OWN_PROFILE: NetworkProfile = {
  name: "svc",
  bech32Prefix: BECH32_PREFIX,
  coinType: COIN_TYPE,
  denom: NATIVE_DENOM,
  namespace: "sdk",
  aminoNames: "current",
  trust: NO_TRUST,
};
const COSMOS_PROFILE: NetworkProfile = {
  name: "cosmos",
  bech32Prefix: "cosmos",
  coinType: COIN_TYPE,
  denom: "uatom",
  namespace: "cosmos",
  aminoNames: "current",
  trust: NO_TRUST,
};

/** Built-in profiles, by name; others are in `client.toml`. */
export const KNOWN_PROFILES: ReadonlyMap<string, NetworkProfile> = new Map([
  [OWN_PROFILE.name, OWN_PROFILE],
  [COSMOS_PROFILE.name, COSMOS_PROFILE],
]);
