import { describe, expect, it } from "vitest";
import { clusterErrors } from "../../contract/index.ts";
import { HostData } from "./host-data.ts";

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

  it.each([
    ["dial tcp 10.0.0.7:2375: connection refused", "dial tcp (a private address):2375: connection refused"],
    ["lookup x on 192.168.1.1:53: no such host", "lookup x on (a private address):53: no such host"],
    ["read 172.16.3.4->169.254.169.254: reset", "read (a private address)->(a private address): reset"],
    ["dial tcp [fd00:1::7]:2375: refused", "dial tcp [(a private address)]:2375: refused"],
    ["bind fe80::1: in use", "bind (a private address): in use"],
    ["from ::ffff:10.0.0.7 refused", "from (a private address) refused"],
  ])("has no address of its networks: %s", (text, told) => {
    expect(host.hide(text)).toBe(told);
  });

  it.each([
    "registry 8.8.8.8 cannot be reached",
    "listen 127.0.0.1:80: in use",
    "image registry.test/app:10.0.0.1 does not exist",
    "version 10.0.0 or 10.0.0.1.2",
    "at 12:30:59 and ab:cd",
    "2606:4700::1111 answers",
  ])("keeps what is everybody's: %s", (text) => {
    expect(host.hide(text)).toBe(text);
  });

  it.each(["/", "", "data"])("keeps all words where a folder of the host is called %j", (path) => {
    const text = "cannot read data/file in /app";
    expect(new HostData([path]).hide(text)).toBe(text);
  });

  it("does not take long over a long text", () => {
    for (const text of [
      "1.".repeat(50_000),
      ":".repeat(100_000),
      "a:".repeat(50_000),
      "/a".repeat(50_000),
      " ".repeat(100_000),
    ]) {
      expect(host.hide(text)).toHaveLength(text.length);
    }
  });

  it("is out of every error with its kind kept", () => {
    const known = host.error(
      clusterErrors.firewall("open /srv/provider/engine/x from 10.0.0.7", { hint: "see /data/storage/y" }),
    );
    expect(known).toMatchObject({
      codespace: "cluster",
      code: clusterErrors.firewall.code,
      hint: "see (on the provider's host)",
      message: expect.stringMatching(/^open \(on the provider's host\) from \(a private address\): /),
    });
    const clean = clusterErrors.closing("lease");
    expect(host.error(clean)).toBe(clean);
    const other = Object.assign(new Error("ENOSPC: open '/srv/provider/engine/leases/a.json'"), { code: "ENOSPC" });
    expect(host.error(other)).toMatchObject({ code: "ENOSPC", message: "ENOSPC: open '(on the provider's host)'" });
  });

  it("keeps the paths of the container", () => {
    const text = 'exec: "/app/start": stat /app/start: no such file or directory';
    expect(host.hide(text)).toBe(text);
  });
});
