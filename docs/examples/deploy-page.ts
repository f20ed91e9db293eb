// Part of a page: deploys the text of a file, and resolves with its addresses when the provider says that it is ready.
import { ChainClient, privateKeySigner } from "svc";
import { signSecp256k1 } from "svc/crypto";
import { type DeployReporter, type DeployResult, runDeploy, textRequest, webParts } from "svc/deploy";

/** A page and the key that it deploys with. */
interface Page {
  /** Address of a node that allows this page. */
  readonly node: string;
  /** Base URL of a relay; below it, the address of each provider leads to its gateway. */
  readonly relay: string;
  /** 32 bytes. */
  readonly privateKey: Uint8Array;
}

/** Run it again with the same name and journal to continue after an interruption. */
export async function deployText({ node, relay, privateKey }: Page, name: string, text: string): Promise<DeployResult> {
  const chain = new ChainClient(node);
  const signer = privateKeySigner(privateKey);
  try {
    const parts = await webParts({
      chain,
      signer,
      credential: { kind: "token", account: signer.address, sign: (bytes) => signSecp256k1(privateKey, bytes) },
      gatewayUrl: ({ address }) => `${relay}/${address}`,
    });
    // Sentences, and the same as values: `wait.for`, `note.kind`.
    const reporter: DeployReporter = {
      step: ({ name: step, ms }) => console.info(`${step}: ${ms} ms`),
      waiting: (sentence, wait) => console.info(`waiting for ${sentence}`, wait),
      note: (sentence, note) => console.info(sentence, note),
    };
    return await runDeploy(parts, textRequest({ name, text, bidWindow: 0n }), reporter);
  } finally {
    chain.close();
  }
}
