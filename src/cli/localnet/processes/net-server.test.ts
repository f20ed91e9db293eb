import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startNetServer } from "./net-server.ts";

describe("the published files", () => {
  test("are version, chain id, nodes, one a line, and a block to trust", async () => {
    const rpcNodes = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
    let block: string | undefined;
    const server = await startNetServer(0, {
      ...{ version: "v1.2.3", chainId: "svc-1", rpcNodes, chainInfo: "{}" },
      trustedBlock: () => block,
    });
    try {
      const text = async (path: string) => {
        const response = await fetch(server.url + path);
        return `${response.status} ${await response.text()}`;
      };
      expect(await text("/version.txt")).toBe("200 v1.2.3\n");
      expect(await text("/chain-id.txt")).toBe("200 svc-1\n");
      expect(await text("/rpc-nodes.txt")).toBe("200 http://127.0.0.1:1\nhttp://127.0.0.1:2\n");
      expect(await text("/trusted-block.txt")).toBe("404 not found\n");
      block = `3 ${"AB".repeat(32)}`;
      expect(await text("/trusted-block.txt")).toBe(`200 ${block}\n`);
      expect(await text("/version.txt?now")).toBe("200 v1.2.3\n");
      for (const path of ["/", "//", "//[", "/%"]) expect(await text(path)).toBe("404 not found\n");
    } finally {
      await server.close();
    }
  });

  test("are the chain as wallets take it, as JSON", async () => {
    const chainInfo = `{"chainId":"svc-1"}`;
    const files = { version: "v1.2.3", chainId: "svc-1", rpcNodes: [], trustedBlock: () => undefined, chainInfo };
    const server = await startNetServer(0, files);
    try {
      const answer = await fetch(`${server.url}/chain.json`);
      expect([answer.headers.get("content-type"), await answer.text()]).toEqual(["application/json", `${chainInfo}\n`]);
      expect((await fetch(`${server.url}/other.json`)).headers.get("content-type")).toBe("text/plain; charset=utf-8");
    } finally {
      await server.close();
    }
  });

  test("are the installer and the files of a release too, if its folder is given, and no others", async () => {
    const releases = mkdtempSync(join(tmpdir(), "svc-releases-"));
    mkdirSync(join(releases, "releases", "v1.3.0"), { recursive: true });
    for (const name of ["version.txt", "install.sh", "secret", "releases/v1.3.0/SHA256SUMS"])
      writeFileSync(join(releases, name), name === "version.txt" ? "v1.3.0\n" : `${name}\n`);
    const files = { version: "v1.2.3", chainId: "svc-1", rpcNodes: [], trustedBlock: () => undefined, chainInfo: "{}" };
    const server = await startNetServer(0, { ...files, releases });
    try {
      const text = async (path: string) => {
        const response = await fetch(server.url + path);
        return `${response.status} ${await response.text()}`;
      };
      expect(await text("/version.txt")).toBe("200 v1.3.0\n");
      expect(await text("/install.sh")).toBe("200 install.sh\n");
      expect(await text("/releases/v1.3.0/SHA256SUMS")).toBe("200 releases/v1.3.0/SHA256SUMS\n");
      const others = ["/secret", "/releases/v1.3.0", "/releases/v1.3.0/none", "/releases/v1.3.0/%2e%2e/%2e%2e/secret"];
      for (const path of others) expect(await text(path)).toBe("404 not found\n");
    } finally {
      await server.close();
      rmSync(releases, { recursive: true });
    }
  });
});
