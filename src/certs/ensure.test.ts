import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NodeDouble } from "../../test/support/node-double.ts";
import { ChainClient } from "../client/index.ts";
import { testKey } from "../testing/index.ts";
import { toUtf8 } from "../util/index.ts";
import { MsgCreateCertificateSchema, Query } from "../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { unpackAs } from "../wire/index.ts";
import { ensureClientCertificate } from "./ensure.ts";
import { certificatePath, readCertificateFile } from "./file.ts";

test("two first deployments of a tenant at the same time publish one certificate, the one of the home", async () => {
  const home = mkdtempSync(join(tmpdir(), "svc-certs-"));
  const node = new NodeDouble();
  await node.start();
  node.answerQuery(Query.method.certificates, () => ({}));
  const chain = new ChainClient(node.address);
  onTestFinished(async () => {
    chain.close();
    await node.stop();
    rmSync(home, { recursive: true });
  });
  const { address, sign } = testKey("alice");
  const signer = { address, sign: async (bytes: Uint8Array) => sign(bytes) };
  const ensure = () => ensureClientCertificate({ chain, home, signer });
  const messages = await Promise.all([ensure(), ensure(), ensure()]);
  const file = await readCertificateFile(certificatePath(home, address, "client"));
  for (const message of messages) {
    if (message === undefined) throw new Error("it is not on the chain yet");
    expect(unpackAs(MsgCreateCertificateSchema, message)?.cert).toEqual(toUtf8(file?.certificate ?? ""));
  }
});
