import { assert } from "../../util/index.ts";
import { setConfig } from "../config/edit.ts";
import { findConfigKey } from "../config/keys.ts";
import { LOCALNET_CHAIN_ID } from "./home.ts";

/** Lets commands with this home find its keys and its node by themselves: `client.toml` names them. */
export function writeClientSettings(home: string, node: string): void {
  const settings = { "chain-id": LOCALNET_CHAIN_ID, "keyring-backend": "test", node };
  for (const [name, value] of Object.entries(settings)) {
    const key = findConfigKey(name);
    assert(key !== undefined, `${name} is a setting`);
    setConfig(home, { key, value, profile: undefined });
  }
}
