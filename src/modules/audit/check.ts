import { attributeFault } from "../../sdl/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { errors } from "./errors.ts";

/** Throws `audit/2` unless all texts are addresses of accounts. */
export function checkAddresses(...addresses: readonly string[]): void {
  for (const address of addresses) {
    try {
      decodeAddress(address, "account");
    } catch (cause) {
      throw errors.invalidAddress(JSON.stringify(address.slice(0, 128)), { cause });
    }
  }
}

/** Throws `audit/4` unless this is something that can be signed. */
export function checkAttributes(attributes: readonly Attribute[]): void {
  const fault = attributes.length === 0 ? "no attribute to sign" : attributeFault(attributes, "offered");
  if (fault !== undefined) throw errors.attributes(fault);
}
