import * as v from "valibot";
import type { TokenScope } from "../../crypto/index.ts";
import type { LeaseService } from "../leases/index.ts";
import type { Admission } from "./access/authorizer.ts";
import { hostNames, readBody } from "./parameters.ts";
import { readIds } from "./paths.ts";

/** A request whose body names the leases that it is about. */
export interface MigrateRequest {
  readonly admission: Admission;
  readonly body: Uint8Array;
}

interface MigrateRoute {
  readonly path: string;
  readonly scope: TokenScope;
  answer(request: MigrateRequest, leases: LeaseService): Promise<object>;
}

/** Numbers of deployments may exceed the exact integers of JSON. */
const number = v.pipe(v.union([v.pipe(v.number(), v.safeInteger()), v.string()]), v.transform(String));
const destination = { destination_dseq: number, destination_gseq: v.optional(number, "1") };
const hostMigration = v.strictObject({ hostnames_to_migrate: hostNames, ...destination });
const endpointMigration = v.strictObject({ endpoints_to_migrate: hostNames, ...destination });

/** Requests that migrate something to another deployment of the same owner. */
export const MIGRATE_ROUTES: readonly MigrateRoute[] = [
  {
    path: "/hostname/migrate",
    scope: "hostname-migrate",
    async answer({ admission: { owner, permit }, body }, leases) {
      const { hostnames_to_migrate: hosts, ...to } = readBody(hostMigration, body);
      return { transferred: await leases.migrateHosts({ owner, hosts, permit, ...destinationOf(to) }) };
    },
  },
  {
    path: "/endpoint/migrate",
    scope: "ip-migrate",
    async answer({ admission: { owner, permit }, body }, leases) {
      const { endpoints_to_migrate: endpoints, ...to } = readBody(endpointMigration, body);
      return { transferred: await leases.migrateEndpoints({ owner, endpoints, permit, ...destinationOf(to) }) };
    },
  },
];

function destinationOf(to: { readonly destination_dseq: string; readonly destination_gseq: string }) {
  const { dseq, gseq = 0 } = readIds({ dseq: to.destination_dseq, gseq: to.destination_gseq, oseq: "1" });
  return { dseq, gseq };
}
