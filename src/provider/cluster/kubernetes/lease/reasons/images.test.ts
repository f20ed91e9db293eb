import { expect, it } from "vitest";
import { imageError } from "./images.ts";

const IMAGE = "registry.example.com/denied/not-found:404";
/** The registry's message with the additions of a kubelet and containerd. */
const told = (end: string): string =>
  `Back-off pulling image "${IMAGE}": ErrImagePull: rpc error: code = Unknown desc = failed to resolve reference "${IMAGE}": ${end}`;

it.each([
  [
    "pulling from host registry.example.com failed with status code [manifests 404]: 401 Unauthorized",
    /does not give out/,
  ],
  ["pull access denied, repository does not exist or may require authorization", /does not give out/],
  [`${IMAGE}: not found`, /does not exist in its registry/],
  ["unexpected status code: 429 Too Many Requests", /too often of late/],
  ["write /var/lib/containerd/1: no space left on device", /^the node has no disk left for/],
  ["failed to do request: Head: dial tcp 203.0.113.1:443: connect: connection refused", /does not answer over TLS/],
])("tells the tenant what %s means", (end, sentence) => {
  expect(imageError(told(end))).toMatch(sentence);
  expect(imageError(told(end))).toContain(`the image ${IMAGE}`);
});

it("keeps to itself what it does not know", () => {
  expect(imageError(told("open /srv/blobs: input/output error"))).toBe(
    `the node does not get the image ${IMAGE} yet: check its name, tag and credentials, or ask the provider`,
  );
});
