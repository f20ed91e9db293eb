import { moduleAddress } from "../../crypto/index.ts";
import type { Context } from "../../runtime/index.ts";
import type { IntCoin } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";

export const ACCOUNT = "gov";
/** The signer of the messages of proposals. */
export const GOV_ADDRESS = moduleAddress(ACCOUNT);
export const GOV_ACCOUNT = encodeAddress(GOV_ADDRESS);

/** Functions of the community pool that governance needs. */
export interface CommunityPool {
  fundPool(ctx: Context, depositor: Uint8Array, coins: readonly IntCoin[]): void;
  spendPool(ctx: Context, to: Uint8Array, coins: readonly IntCoin[]): void;
}
