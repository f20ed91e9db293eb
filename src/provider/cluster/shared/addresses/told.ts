import type { ManifestGroup } from "../../../../sdl/index.ts";
import { externalPort, isLeasedIpExpose, type LeasedAddress } from "../../contract/index.ts";
import type { Holding } from "./book.ts";

/** What the cluster reports about an address that should route to a service. */
export type AddressState = Pick<LeasedAddress, "assigned" | "problem">;

/** Every port of the addresses that the lease has, for its tenant. */
export function leasedAddresses(
  { services }: ManifestGroup,
  held: readonly Holding[],
  stateOf: (service: string, holding: Holding) => AddressState,
): LeasedAddress[] {
  return services.flatMap(({ name: service, expose }) =>
    expose.filter(isLeasedIpExpose).flatMap(({ ip, port, proto, ...rest }) => {
      const holding = held.find(({ endpoint }) => endpoint === ip);
      if (holding === undefined) return [];
      const outside = externalPort({ ip, port, proto, ...rest });
      const { address } = holding;
      return [{ endpoint: ip, address, service, port, externalPort: outside, proto, ...stateOf(service, holding) }];
    }),
  );
}
