import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { addressArgument } from "../../query/ask.ts";
import { withSession } from "../client/session.ts";
import { chainFacts, nodeCheck, recordCheck } from "./chain.ts";
import { examine } from "./finding.ts";
import { answersCheck, dnsCheck, gatewayCheck, shownCertificateCheck, visitOf } from "./gateway.ts";
import { printFindings } from "./print.ts";

/** `svc provider verify ADDRESS`: needs no key. */
export async function providerVerify(input: CommandInput): Promise<number> {
  const address = addressArgument(input.args[0] ?? "", "address", input.flags);
  const context = createContext(input);
  const chain = await context.chain();
  return withSession(chain, async () => {
    const provider = async () => address;
    const facts = chainFacts(chain, provider);
    const visit = visitOf(facts);
    const checks = [
      nodeCheck(facts),
      recordCheck(facts, provider),
      dnsCheck(facts),
      gatewayCheck(visit),
      shownCertificateCheck(visit),
      answersCheck(facts, visit),
    ];
    return printFindings(await examine(checks), context);
  });
}
