// Talks to the provider of a lease: status, the last log lines, one command.
// node tools/run.mjs docs/examples/lease.ts <key> <dseq>
import { ChainClient } from "svc";
import { GatewayClient, publishedCertificates } from "svc/gateway";
import { Query as MarketQuery } from "svc/proto/svc/market/v1beta1/query";
import { Query as ProviderQuery } from "svc/proto/svc/provider/v1beta1/provider";
import { SignMode } from "svc/wire";
import { keyOf } from "./signer.ts";

const [name = "", dseq = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");
const signer = await keyOf(process.env.SVC_HOME ?? "", name);

const filters = { owner: signer.address, dseq: BigInt(dseq), state: "active" };
const { leases } = await chain.query.call(MarketQuery.method.leases, { filters });
const id = leases[0]?.lease?.leaseId;
if (id === undefined) throw new Error(`deployment ${dseq} has no active lease`);
const { provider } = await chain.query.call(ProviderQuery.method.provider, { owner: id.provider });

// The client sends nothing before the server has shown the certificate that the provider published on the chain.
const gateway = new GatewayClient({
  provider: id.provider,
  hostUri: provider?.hostUri ?? "",
  certificateOf: publishedCertificates(chain.query),
  credential: { kind: "token", account: signer.address, sign: (bytes) => signer.sign(bytes, SignMode.DIRECT) },
});

const { services } = await gateway.leaseStatus(id);
for (const { name: service, available, total } of Object.values(services)) {
  console.log(`${service}: ${available} of ${total} replicas ready`);
  const { signal } = new AbortController();
  const logs = gateway.logs(id, { services: [service], follow: false, tail: 5, signal });
  for await (const line of logs) console.log(`${line.name}: ${line.message}`);
}

chain.close();
