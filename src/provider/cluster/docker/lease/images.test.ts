import { describe, expect, it } from "vitest";
import { LEASE_VOLUMES, MAX_VOLUMES } from "../images/limits.ts";
import { checkImageVolumes } from "./images.ts";

describe("volumes that an image declares", () => {
  const declared = (count: number) => Array.from({ length: count }, (_, each) => `/data/${each}`);
  const check = (count: number, replicas: number, mounted: readonly string[] = []) =>
    checkImageVolumes("app:1", { declared: declared(count), mounted: new Set(mounted), replicas });

  it("are as many as its lease may have in all, shared out among its replicas", () => {
    check(MAX_VOLUMES, 1);
    check(MAX_VOLUMES, LEASE_VOLUMES / MAX_VOLUMES);
    const one = LEASE_VOLUMES / MAX_VOLUMES + 1;
    expect(() => check(MAX_VOLUMES, one)).toThrow(/app:1 declares 64 volumes, with 5 replicas 51 are possible/);
    check(5, 50);
    expect(() => check(6, 50)).toThrow(/with 50 replicas 5 are possible/);
    expect(() => check(1, LEASE_VOLUMES + 1)).toThrow(/0 are possible/);
  });

  it("do not count where the tenant mounts something himself", () => {
    check(6, 50, ["/data/3"]);
    check(6, 50, ["/data/3/"]);
    expect(() => check(7, 50, ["/data/3"])).toThrow(/declares 6 volumes/);
  });
});
