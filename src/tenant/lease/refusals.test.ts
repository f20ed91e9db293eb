import { describe, expect, test } from "vitest";
import { remedyFor } from "./refusals.ts";

describe("reasons for not bidding", () => {
  test.each([
    ["our price 2utoken per block is above the order's 1utoken", "raise the amount under pricing"],
    ["insufficient capacity: 500m cpu wanted", "request less cpu"],
    ["the order requires attribute region=eu, this provider does not have it", "change or remove the attribute"],
    ["the order requires the signature of an auditor that this provider does not have", "change or remove signedBy"],
    ["a service of the order has less memory than a container needs: at least 6Mi", "write a larger memory.size"],
    ["this provider serves only orders that ask for tier=one", "add that attribute"],
    ["nobody accepted its last bid in time", "it bids again after a pause"],
    ["the order requires attribute tee/type=cpu, this provider does not have it", "remove tee:"],
    [
      "the order requires attribute capabilities/gpu-interconnect=true, this provider does not have it",
      "remove interconnect:",
    ],
    ["the order requests an interconnect of GPUs, this provider has none", "remove interconnect:"],
    ["the order requests a gpu, this provider has none", "request what this provider has"],
    [
      "the provider has 1utoken, a bid takes a deposit of 5utoken and a fee of 1utoken: fund the provider's account",
      "has to fund",
    ],
  ])("%s", (reason, remedy) => {
    expect(remedyFor(reason)).toContain(remedy);
  });

  test("one that nobody knows has no remedy", () => expect(remedyFor("because")).toBeUndefined());
});
