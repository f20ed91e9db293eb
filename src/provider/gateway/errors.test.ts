import { expect, test } from "vitest";
import { clusterErrors } from "../cluster/index.ts";
import { toFailure } from "./errors.ts";

test("a tenant is not told the address of the provider's cluster", () => {
  const { status, body } = toFailure(clusterErrors.unreachable("connect ECONNREFUSED /run/podman/podman.sock"));
  expect(status).toBe(503);
  expect(body.message).toBe("the provider's cluster does not answer now");
  expect(JSON.stringify(body)).not.toContain("podman.sock");
});

test("an error without a text for tenants is reported as an internal one", () => {
  expect(toFailure(new Error("/etc/shadow")).body.message).toBe("the provider failed to answer; its log says why");
});
