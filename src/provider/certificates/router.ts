import { formatLeaseId } from "../../wire/index.ts";
import { Certificates, type LeaseRouter, tlsOrigin } from "../ingress/index.ts";
import type { CertificateKeeper } from "./keeper.ts";

/** Maximum age of the folders' contents when an address is shown, in milliseconds. */
const FRESH_MS = 2_000;

export interface CertifiedRouterOptions {
  /** Folders of certificates that the ingress presents. */
  readonly folders: readonly string[];
  /** The keeper of certificates; undefined if others write them. */
  readonly keeper: CertificateKeeper | undefined;
  /** Where the ingress listens for TLS. */
  readonly tlsPort: () => number;
}

/** A router whose host names get certificates, and whose addresses use TLS if there is one. */
export function certifiedRouter(router: LeaseRouter, options: CertifiedRouterOptions): LeaseRouter {
  const { folders, keeper, tlsPort } = options;
  const certificates = new Certificates(folders);
  let looked = Number.NEGATIVE_INFINITY;
  const isCertified = (host: string): boolean => {
    const now = performance.now();
    if (now - looked >= FRESH_MS) {
      certificates.look();
      looked = now;
    }
    return certificates.has(host);
  };
  return {
    ...router,
    async route(id, services, loopback) {
      // This machine's own authority signs before the first request; others need the routes first.
      await keeper?.want(
        { lease: formatLeaseId(id), owner: id.owner },
        services.flatMap(({ hosts }) => hosts),
      );
      looked = Number.NEGATIVE_INFINITY;
      return router.route(id, services, loopback);
    },
    async unroute(id) {
      keeper?.drop(formatLeaseId(id));
      await router.unroute(id);
    },
    url: (host) => (isCertified(host) ? `${tlsOrigin(host, tlsPort())}/` : router.url(host)),
  };
}
