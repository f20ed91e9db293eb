import { expect, it } from "vitest";
import { noteOf } from "./events.ts";

const IMAGE = "registry.example.com/web:1";

it.each([
  [
    "Failed",
    `Failed to pull image "${IMAGE}": failed to do request: Head "https://name:word@mirror.inner.example:5000/v2/web": dial tcp: no such host`,
    `the registry of the image ${IMAGE} does not answer over TLS: check its name`,
  ],
  [
    "Failed",
    "Error: ErrImagePull",
    "the node does not get the image yet: check its name, tag and credentials, or ask the provider",
  ],
  [
    "Evicted",
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container main was using 90Mi",
    "its node ran out of memory and ended it: another takes its place; ask the provider if that lasts",
  ],
  [
    "Preempted",
    "Preempted by pod 2f6c1d5e-inner on node berlin-7",
    "its node ended it and another takes its place; ask the provider if that lasts",
  ],
])("says of %s what the status says, without words of the cluster: %s", (reason, message, sentence) => {
  expect(noteOf({ reason, message })).toBe(sentence);
});

it("keeps what concerns the tenant's own program", () => {
  const message = 'Error: failed to start container "main": exec: "serve": executable file not found in $PATH';
  expect(noteOf({ reason: "Failed", message })).toBe(message);
  const probe = "Readiness probe failed: HTTP probe failed with statuscode: 503";
  expect(noteOf({ reason: "Unhealthy", message: probe })).toBe(probe);
});
