import { issueCertificate } from "../../certs/index.ts";
import { type ChainClient, marketReader, sendTx, type TxSigner } from "../../client/index.ts";
import { type DeployReporter, runDeploy } from "../../tenant/index.ts";
import { deployRequest, liveParts } from "../../tenant/node/index.ts";
import { DEC_ONE, NATIVE_DENOM } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { MsgCreateCertificateSchema } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { MsgCreateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../wire/index.ts";
import { commandError } from "../errors.ts";
import { ACCOUNTS, keySigner, localnetKeyring, makeKey } from "./home.ts";
import type { LocalnetDeployment, Steps } from "./steps.ts";

/** Storage that the localnet's provider offers: one kind of persistent storage per class. */
const STORAGE_CLASSES = ["default", "beta1", "beta2", "beta3"];

/** Gas is free in a localnet; the estimate gets a margin, because blocks are made meanwhile. */
const TX_OPTIONS = { gas: "auto", gasAdjustment: DEC_ONE + DEC_ONE / 2n } as const;

/** Gives the accounts of further providers their money. */
export async function fundProviders(client: ChainClient, home: string, names: readonly string[]): Promise<void> {
  const keyring = localnetKeyring(home);
  const addresses = await Promise.all(names.map((name) => makeKey(keyring, name)));
  const faucet = await keySigner(keyring, "faucet");
  const balances = await Promise.all(
    addresses.map((address) => client.query.call(BankQuery.method.balance, { address, denom: NATIVE_DENOM })),
  );
  const poor = addresses.filter((_, i) => BigInt(balances[i]?.balance?.amount ?? 0) === 0n);
  if (poor.length === 0) return;
  const amount = [{ denom: NATIVE_DENOM, amount: `${ACCOUNTS.provider}` }];
  const sends = poor.map((toAddress) => packAny(MsgSendSchema, { fromAddress: faucet.address, toAddress, amount }));
  const { code, rawLog } = await sendTx(client, faucet, sends, TX_OPTIONS);
  if (code !== 0) throw commandError(`the faucet could not send: ${rawLog}`);
}

export interface Registration {
  readonly client: ChainClient;
  readonly signer: TxSigner;
  readonly home: string;
  readonly hostUri: string;
}

/** Registers the provider and publishes its server certificate, in one transaction; nothing if that was done before. */
export async function registerProvider({ client, signer, home, hostUri }: Registration): Promise<void> {
  if ((await marketReader(client.query).provider(signer.address)) !== undefined) return;
  const attributes = [{ key: "host", value: "localnet" }, ...STORAGE_CLASSES.flatMap(storageAttributes)];
  const { hostname } = new URL(hostUri);
  const certificate = await issueCertificate({ home, kind: "server", signer, hosts: [hostname] });
  const { code, rawLog } = await sendTx(
    client,
    signer,
    [
      packAny(MsgCreateProviderSchema, {
        owner: signer.address,
        hostUri,
        attributes,
        info: { email: "", website: "" },
      }),
      packAny(MsgCreateCertificateSchema, {
        owner: signer.address,
        cert: certificate.cert,
        pubkey: certificate.pubkey,
      }),
    ],
    TX_OPTIONS,
  );
  if (code !== 0) throw commandError(`the provider could not be registered: ${rawLog}`);
}

function storageAttributes(name: string, i: number): { key: string; value: string }[] {
  const prefix = `capabilities/storage/${i + 1}`;
  return [
    { key: `${prefix}/class`, value: name },
    { key: `${prefix}/persistent`, value: "true" },
  ];
}

interface DeployMeans {
  readonly home: string;
  readonly client: ChainClient;
  readonly signal: AbortSignal;
  readonly steps: Steps;
}

/** Deploys a file as alice and waits until it answers. */
export async function deployFile(file: string, means: DeployMeans): Promise<LocalnetDeployment> {
  const { home, client, signal, steps } = means;
  const signer = await keySigner(localnetKeyring(home), "alice");
  const parts = await liveParts({ home, chain: client, signer, tx: TX_OPTIONS, signal });
  const result = await runDeploy(parts, deployRequest({ file, bidWindow: 1n }, signal), reporterOf(steps));
  return {
    dseq: result.dseq,
    provider: result.leases[0]?.provider ?? "",
    uris: result.uris,
    ports: result.ports,
  };
}

const NAMES: Readonly<Record<string, string>> = {
  certificate: "tenant certificate",
  order: "order on the chain",
  bid: "bid received",
  lease: "lease created",
  manifest: "manifest accepted",
  ready: "services ready",
  "first-200": "first 200",
};

function reporterOf(steps: Steps): DeployReporter {
  return {
    step: ({ name, ms }) => steps.note(NAMES[name] ?? name, ms),
    waiting: () => {},
    note: (text) => steps.say(text),
  };
}
