import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { isIP } from "node:net";
import { checkServerIdentity, connect, type TLSSocket } from "node:tls";
import * as v from "valibot";
import { WEB_GATEWAY, webGateway } from "../../../client/index.ts";
import { readWholeText, tryJson } from "../../../util/index.ts";
import type { ChainFacts } from "./chain.ts";
import { type Check, Fault } from "./finding.ts";
import { hostOf, resolveName } from "./gateway.ts";

/** Bytes of an answer that are read. */
const MAX_ANSWER = 16 << 10;
const ANSWER_MS = 10_000;
/** Faults of OpenSSL that say only that this machine does not know the authority. */
const UNKNOWN_AUTHORITY: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const versionSchema = v.object({ svc: v.object({ version: v.string() }) });

/** Whether pages in browsers reach the gateway, at the address that the provider published for them. */
export function browsersCheck(facts: Pick<ChainFacts, "record">, wanted?: string): Check {
  return {
    name: "web gateway",
    fix: "the name must lead to the ingress, and the ingress needs a certificate for it; see the log of the data plane",
    async look() {
      const record = await facts.record();
      const entry = `${WEB_GATEWAY}: ${wanted ?? "https://gateway.<ingress domain>"}`;
      const published = record.attributes.find(({ key }) => key === WEB_GATEWAY)?.value;
      if (published === undefined) return `not published; for pages in browsers add the attribute ${entry}`;
      const origin = webGateway(record);
      if (origin === undefined)
        throw new Fault(`${published} is not the https address of a host`, `write ${entry} in provider.yaml`);
      return `${await resolveName(hostOf(origin))}; ${await visit(origin)}`;
    },
  };
}

/** Asks as a page does, without a certificate of its own; says whose certificate the gateway shows. */
async function visit(origin: string): Promise<string> {
  const { hostname, host, port } = new URL(origin);
  const name = hostname.replace(/^\[|\]$/g, "");
  const server = isIP(name) === 0 ? { servername: name } : {};
  // An unknown authority is a fact to be told, so the certificate is judged here.
  const socket = connect({ host: name, port: Number(port || 443), ...server, rejectUnauthorized: false });
  const late = setTimeout(() => socket.destroy(new Error("no answer in time")), ANSWER_MS);
  try {
    await once(socket, "secureConnect");
    const shown = judged(socket, name);
    return `${await askVersion(socket, host)} answers, ${shown}`;
  } finally {
    clearTimeout(late);
    socket.on("error", () => {}).destroy();
  }
}

async function askVersion(socket: TLSSocket, host: string): Promise<string> {
  const asked = request({ path: "/version", headers: { host }, createConnection: () => socket });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve).on("error", reject);
    // A switch to another protocol ends the request with neither.
    asked.once("close", () => reject(new Error("the answer was cut off"))).end();
  });
  return versionOf(await readWholeText(response, MAX_ANSWER, () => new Error("its answer has no end")));
}

function versionOf(text: string): string {
  const answer = v.safeParse(versionSchema, tryJson(text));
  if (!answer.success) throw new Error("it does not answer as the gateway of a provider");
  return answer.output.svc.version;
}

/** The judgement of the certificate that a connection was made with; throws where browsers would refuse it. */
function judged(socket: TLSSocket, host: string): string {
  if (socket.authorized) return "with a certificate that this machine accepts";
  const certificate = socket.getPeerCertificate();
  const fault = checkServerIdentity(host, certificate);
  if (fault !== undefined) throw fault;
  if (!UNKNOWN_AUTHORITY.has(socket.authorizationError)) throw new Error(`certificate: ${socket.authorizationError}`);
  if (Date.parse(certificate.valid_to) < Date.now()) throw new Error("its certificate has ended");
  const { O: organisation, CN: name } = certificate.issuer;
  return `with a certificate of ${[name ?? organisation].flat().join(", ")}, which browsers must be told to trust`;
}
