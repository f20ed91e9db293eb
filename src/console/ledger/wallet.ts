import type { PreparedTx } from "../../client/index.ts";
import { CosmosApp, type DeviceKey, HidTransport, LEDGER_USB, ledgerErrors } from "../../keyring/index.ts";
import { BECH32_PREFIX, equalBytes } from "../../util/index.ts";
import { TxBodySchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage, encodeAddress, publicKeyAddress, SignMode } from "../../wire/index.ts";
import { ledger as ledgerWords } from "../text/account.ts";
import { aminoTx, askedParts } from "../wallet/signed.ts";
import { checkChain, type Wallet } from "../wallet/wallet.ts";
import { type HidDevice, type HidHost, openHandle } from "./hid.ts";

export interface LedgerRequest {
  readonly chainId: string;
  /** Number of the account on the device, as in `m/44'/118'/<account>'/0/0`. */
  readonly account: string;
}

/** The highest number that the device's app takes outside its expert mode. */
const MAX_ACCOUNT = 100;

/** The derivation path of an account; throws a sentence if the text is no number of one. */
function pathOf(text: string) {
  const account = Number(/^\d{1,3}$/.test(text) ? text : Number.NaN);
  if (!(account <= MAX_ACCOUNT)) throw new Error(ledgerWords.badAccount);
  return { purpose: 44, coinType: 118, account, change: false, index: 0 };
}

/**
 * The account of a hardware device that the user chooses in the browser's own list. The device is open only while it is asked. Rejects
 * with one of `ledgerErrors` or `walletErrors`.
 */
export async function connectLedger(hid: HidHost, { chainId, account }: LedgerRequest): Promise<Wallet> {
  const path = pathOf(account);
  const filters = [{ vendorId: LEDGER_USB.vendor, usagePage: LEDGER_USB.usagePage }];
  const [device] = await hid.requestDevice({ filters });
  if (device === undefined) throw ledgerErrors.notFound();
  const { publicKey } = await withApp(device, (app) => app.key(path, BECH32_PREFIX));
  const address = encodeAddress(publicKeyAddress(publicKey), "account");
  const signMode = SignMode.LEGACY_AMINO_JSON;
  return {
    kind: "ledger",
    ...{ name: device.productName, chainId, address, publicKey, signMode },
    lacks: { text: "onlyTransactions" },
    async signTx(tx) {
      checkChain({ chainId }, tx);
      const inMode = { ...tx, signMode };
      const { aminoText } = await import("../wallet/amino.ts");
      const document = aminoText(askedParts(inMode, publicKey), tx.signer);
      const signature = await withApp(device, async (app) => {
        const { prefix } = sameKey(await app.key(path, BECH32_PREFIX), publicKey.key);
        return app.sign(path, prefix, document);
      });
      return aminoTx(inMode, publicKey, { choices: choicesOf(tx), given: { key: publicKey.key, signature } });
    },
    text: undefined,
    onChange: () => () => undefined,
  };
}

/** A device signs fee and memo unchanged. */
function choicesOf({ bodyBytes, fee }: PreparedTx) {
  return { memo: decodeMessage(TxBodySchema, bodyBytes).memo, fee };
}

function sameKey(found: DeviceKey, wanted: Uint8Array): DeviceKey {
  if (!equalBytes(found.publicKey.key, wanted)) throw ledgerErrors.otherKey();
  return found;
}

async function withApp<T>(device: HidDevice, run: (app: CosmosApp) => Promise<T>): Promise<T> {
  const transport = new HidTransport(await openHandle(device));
  try {
    return await run(await CosmosApp.open(transport));
  } finally {
    await transport.close();
  }
}
