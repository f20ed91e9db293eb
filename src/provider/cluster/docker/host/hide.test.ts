import { describe, expect, it } from "vitest";
import { HostData } from "./hide.ts";

const host = new HostData(["/srv/provider/engine", "/data/storage", "/run/podman/podman.sock"]);

describe("what tenants read", () => {
  it.each([
    ["statfs /data/storage/volumes/x/_data: permission denied", "statfs (on the provider's host): permission denied"],
    ["mount /srv/provider/engine/volumes/l1/web-0.data.mnt/data failed", "mount (on the provider's host) failed"],
    ["connect ENOENT /run/podman/podman.sock", "connect ENOENT (on the provider's host)"],
    ["dial unix:///run/podman/podman.sock: refused", "dial (on the provider's host): refused"],
    [
      'creating overlay mount to /x/y/overlay/ab12/merged, mount_data="lowerdir=/x/l/A:/x/l/B,upperdir=/x/d": no space',
      "creating overlay mount to (on the provider's host): no space",
    ],
    ["open /var/lib/docker/overlay2/ff/diff: no such file", "open (on the provider's host): no such file"],
  ])("has nothing of the host: %s", (text, told) => {
    expect(host.hide(text)).toBe(told);
  });

  it("keeps the paths of the container", () => {
    const text = 'exec: "/app/start": stat /app/start: no such file or directory';
    expect(host.hide(text)).toBe(text);
  });
});
