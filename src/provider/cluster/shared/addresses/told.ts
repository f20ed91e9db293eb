import type { ManifestGroup } from "../../../../sdl/index.ts";
import { externalPort, isLeasedIpExpose, type LeasedAddress } from "../../contract/index.ts";
import type { Holding } from "./book.ts";

/** What the cluster reports about an address that should route to a service. */
export type AddressState = Pick<LeasedAddress, "assigned" | "problem">;

/** Every port of the addresses that the lease has, for its tenant. */
export function leasedAddresses(
  { services }: ManifestGroup,
  held: readonly Holding[],
  stateOf: (service: string, holding: Holding, port: string) => AddressState,
): LeasedAddress[] {
  return services.flatMap(({ name: service, expose }) =>
    expose.filter(isLeasedIpExpose).flatMap(({ ip, port, proto, ...rest }) => {
      const holding = held.find(({ endpoint }) => endpoint === ip);
      if (holding === undefined) return [];
      const outside = externalPort({ ip, port, proto, ...rest });
      const { address } = holding;
      const state = stateOf(service, holding, `${outside}/${proto}`);
      return [{ endpoint: ip, address, service, port, externalPort: outside, proto, ...state }];
    }),
  );
}

/** Why a port of the address does not lead to the lease, such as `53/UDP`: that of a sister has it. */
export function portTaken(port: string): string {
  return `port ${port} of its IP address already leads to another group of this deployment: write another port with as:`;
}
