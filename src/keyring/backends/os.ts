import { isOneOf } from "../../util/index.ts";
import { keyringErrors } from "../errors.ts";
import type { ItemStore } from "../types.ts";
import { openKWallet } from "./kwallet.ts";
import { openNative } from "./native.ts";
import { openPass } from "./pass.ts";
import { openSecretService } from "./secret-service.ts";
import type { ServiceContext } from "./session.ts";

/** The application name under which tools of the ecosystem open the wallet of their own name. */
const WALLET_APPLICATION = "keyring";

/**
 * The first available keyring of the operating system, in the order and with the names of the ecosystem's tools, which
 * differ under `os` from `kwallet` and `pass`. Undefined if the system has none. A keyring that exists but refuses is
 * an error: keys must not go elsewhere because a dialog was dismissed.
 */
export async function openSystemKeyring(
  context: ServiceContext,
  platform: string = process.platform,
): Promise<ItemStore | undefined> {
  for (const open of candidates(context, platform)) {
    try {
      return await open();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
  return undefined;
}

function candidates(context: ServiceContext, platform: string): readonly (() => Promise<ItemStore>)[] {
  const pass = () => openPass(context, { backend: "os", folder: "" });
  if (platform === "win32") return [() => openNative(context, platform)];
  if (platform === "darwin") return [() => openNative(context, platform), pass];
  const wallet = { backend: "os", wallet: context.service, application: WALLET_APPLICATION };
  return [() => openSecretService(context), () => openKWallet(context, wallet), pass];
}

function isUnavailable(error: unknown): boolean {
  return isOneOf([keyringErrors.backend], error);
}
