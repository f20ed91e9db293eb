import { describe, expect, it } from "vitest";
import { EngineFailure, publicError, startSentence } from "./cluster/docker/api/failure.ts";
import { clusterErrors, isLasting } from "./cluster/index.ts";
import { failureRows, toFailure } from "./gateway/errors.ts";
import {
  HOST_REASONS,
  hostFault,
  OBSTACLE_NAMES,
  OBSTACLES,
  ORDER_REASONS,
  obstaclesWith,
  REASONS,
} from "./reasons.ts";

describe("the table of reasons", () => {
  it.each(Object.entries(REASONS))("has all parts of %s", (_, { obstacle, tenant, advice, operator, remedy }) => {
    expect(OBSTACLE_NAMES).toContain(obstacle);
    for (const text of [tenant, advice, operator, remedy]) expect(text).toMatch(/^[a-z][^\n]{9,}[^.\s]$/);
    // Tenants read nothing that only the operator can use.
    expect(`${tenant} ${advice}`).not.toMatch(/\/|--|CAP_|runc|crun|Podman|Docker/);
  });

  it("has no name for a fault of the host and for a reason about an order at once", () => {
    expect(Object.keys(HOST_REASONS).filter((name) => Object.hasOwn(ORDER_REASONS, name))).toEqual([]);
  });

  it("has one word on whether an obstacle lasts", () => {
    expect([...obstaclesWith(({ lasts }) => lasts)]).toEqual(["final", "size"]);
    for (const { obstacle } of Object.values(HOST_REASONS)) expect(OBSTACLES[obstacle].lasts).toBe(false);
  });

  it("agrees with the gateway: a refusal lasts where its status tells clients not to try again", () => {
    for (const [error, status] of failureRows().cluster ?? []) {
      expect([error.description, status === 422]).toEqual([error.description, isLasting(error())]);
    }
    const away = clusterErrors.unreachable("connect ENOENT /run/podman/podman.sock");
    expect(toFailure(away).body.message).toBe(HOST_REASONS.engineAway.tenant);
  });
});

/** Errors of engines, runtimes and kernels, with parts that outsiders must not read. */
const HOSTILE = [
  'writing blob: storing blob to file "/var/tmp/storage1234/1": happened during read: unexpected EOF',
  "runc: mount /srv/private/overlay to /mnt at 10.3.2.1:2049: operation not permitted",
  "netavark: failed to load network at /etc/containers/networks: password=hunter2",
  "connect ENOENT /run/podman/podman.sock",
  "dial tcp 10.3.2.1:5000: i/o timeout Authorization: Bearer hunter2",
  "error setting rlimit type 6: operation not permitted at /srv/private",
  "open /srv/private/seccomp.json: seccomp: invalid",
  "hunter2",
];

describe("words of an engine", () => {
  it.each(HOSTILE)("reach no tenant: %s", (text) => {
    for (const kind of ["refused", "unreachable", "notFound"] as const) {
      const failure = new EngineFailure(kind, text);
      const told = [
        startSentence(failure),
        startSentence(publicError(failure)),
        JSON.stringify(toFailure(publicError(failure))),
      ];
      expect(told.join(" ")).not.toMatch(/hunter2|\/srv|\/var|\/etc|\/run|10\.3|ENOENT|rlimit/);
    }
    expect(startSentence(new Error(text))).not.toMatch(/hunter2|\/srv|\/var|\/etc|\/run|10\.3|ENOENT|rlimit/);
  });

  it("reach the operator, with the remedy", () => {
    expect(hostFault("mount", HOSTILE[1]).text).toContain("/srv/private/overlay");
    expect(hostFault("mount", HOSTILE[1]).text).toContain(HOST_REASONS.mount.remedy);
  });
});
