import { expect, test } from "vitest";
import { Steps } from "./steps.ts";

test("the summary of a localnet names each address, and the page for a browser", () => {
  const lines: string[] = [];
  const steps = new Steps({ json: false, out: (line) => lines.push(line), err: () => {} });
  const node = { rpc: "http://127.0.0.1:26657", rest: "http://127.0.0.1:1317", grpc: "127.0.0.1:9090" };
  const others = { net_url: "http://127.0.0.1:8000", home: "/home", ca: "/ca.crt", homeFlags: "" };
  steps.summary({ ...node, ...others, deployments: [], validators: [] });
  expect(lines.slice(1, 6)).toEqual([
    "RPC      http://127.0.0.1:26657",
    "REST     http://127.0.0.1:1317",
    "gRPC     127.0.0.1:9090",
    "Console  http://127.0.0.1:1317/console/   (in a browser; with a key to sign: svc console --from alice)",
    "Network  http://127.0.0.1:8000",
  ]);
});
