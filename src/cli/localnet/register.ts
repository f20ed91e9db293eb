import { issueCertificate } from "../../certs/index.ts";
import { type ChainClient, marketReader, sendTx, type TxSigner } from "../../client/index.ts";
import { MsgCreateCertificateSchema } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { MsgCreateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../wire/index.ts";
import { commandError } from "../errors.ts";

/** What the localnet's provider offers: one kind of persistent storage per class. */
const STORAGE_CLASSES = ["default", "beta1", "beta2", "beta3"];

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
    { gas: "auto", gasAdjustment: 1_300_000_000_000_000_000n },
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
