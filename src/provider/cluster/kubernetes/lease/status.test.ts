import { expect, it } from "vitest";
import { podFault } from "./status.ts";

const POD = {
  ...{ running: true, ready: true, probed: false, ended: false },
  ...{ waiting: undefined, exit: undefined, trouble: undefined },
};
const MEMORY = 64n << 20n;

it("reports the end of a program that has just been started again, and nothing of one that never ended", () => {
  const ended = { ...POD, exit: { code: 3, reason: "Error" } };
  expect(podFault(ended, MEMORY)).toBe("the program ended with exit code 3");
  expect(podFault(POD, MEMORY)).toBeUndefined();
});

it.each([
  [0, "Completed", "the program ended (exit code 0); services are kept running"],
  [137, "OOMKilled", "killed for reaching the memory limit of 64 MiB (exit code 137): give its profile more memory"],
])("says of exit code %i, %s, what a container engine's driver says", (code, reason, sentence) => {
  const waiting = { reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container" };
  expect(podFault({ ...POD, running: false, waiting, exit: { code, reason } }, MEMORY)).toBe(sentence);
});

it.each([
  [
    "0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory. preemption: 0/3 nodes are available",
    /^no node of the provider has room for it now \(cpu, memory\): it starts when there is; ask/,
  ],
  ["0/1 nodes are available: 1 Insufficient nvidia.com/gpu, 1 Too many pods.", /room for it now \(gpu, pods\)/],
  ["0/1 nodes are available: 1 Insufficient ephemeral-storage.", /room for it now \(storage\)/],
  [
    "0/2 nodes are available: 1 node(s) had untolerated taint {rack: berlin-7}, 1 node(s) didn't match Pod's node affinity",
    /^no node of the provider takes it now; ask the provider if that lasts$/,
  ],
  ['nodeinfo not found for node name "berlin-7"', /^no node of the provider takes it now/],
])("says of a pod without a node why, without words about nodes: %s", (trouble, sentence) => {
  const said = podFault({ ...POD, running: false, trouble }, MEMORY);
  expect(said).toMatch(sentence);
  expect(said).not.toMatch(/berlin|taint|affinity|preemption/);
});

it.each([
  [
    "Pod ephemeral local storage usage exceeds the total limit of containers 64Mi. ",
    /^its ephemeral storage was exceeded/,
  ],
  ['Usage of EmptyDir volume "vol-data" exceeds the limit "64Mi". ', /^its ephemeral storage was exceeded/],
  [
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container main was using 90Mi",
    /^its node ran out of memory and ended it: another takes its place/,
  ],
  ["Pod was rejected: berlin-7 is going down", /^its node ended it and another takes its place; ask the provider/],
])("says of a pod that its node ended why: %s", (trouble, sentence) => {
  const said = podFault({ ...POD, running: false, ended: true, trouble }, MEMORY);
  expect(said).toMatch(sentence);
  expect(said).not.toContain("berlin");
});

it.each([
  [
    "ErrImagePull",
    'Failed to pull image "a.example/b:1": open /srv/blobs/7: read-only file system',
    /does not get the/,
  ],
  ["ImagePullBackOff", "", /^the node does not get the image yet: check its name, tag and credentials, or ask/],
  ["InvalidImageName", 'couldn\'t parse image name "A.example/b"', /no valid name/],
  ["ErrImagePull", 'image "a.example/b:1": no match for platform in manifest: not found', /kind of machine/],
])("says of %s what it means: %s", (reason, message, sentence) => {
  const said = podFault({ ...POD, running: false, waiting: { reason, message } }, MEMORY);
  expect(said).toMatch(sentence);
  expect(said).not.toContain("/srv");
});

const CANNOT = /^the node cannot start its program: check command, args and image, or ask the provider$/;

it.each([
  ["CrashLoopBackOff", "back-off 5m0s restarting failed container", /^its program keeps ending, so it starts again/],
  ["CreateContainerError", "failed to reserve container name on berlin-7", CANNOT],
  [
    "RunContainerError",
    'exec: "serve": executable file not found in $PATH: berlin-7',
    /^the image has no program "serve": /,
  ],
  [
    "RunContainerError",
    'exec: "/a b": stat /a b: no such file or directory: berlin-7',
    /^the image has no program "\/a b"/,
  ],
  ["RunContainerError", 'exec: "/etc": permission denied: berlin-7', /^the program "\/etc" may not be executed: check/],
  [
    "CreateContainerConfigError",
    "berlin-7 has none",
    /^the node does not start it \(CreateContainerConfigError\); ask/,
  ],
  ["NoRoomOnBerlin7", "berlin-7", /^the node does not start it; ask the provider if that lasts$/],
  ["Not of berlin", "", /^the node does not start it; ask/],
  ["A".repeat(65), "berlin-7", /^the node does not start it; ask/],
])("says of a container that waits for %s only what is known of that: %s", (reason, message, sentence) => {
  const said = podFault({ ...POD, running: false, waiting: { reason, message } }, MEMORY);
  expect(said).toMatch(sentence);
  expect(said).not.toMatch(/berlin/i);
});

it("says of a program that did not start why, rather than with which exit code", () => {
  const message =
    'runc create failed: unable to start container process: exec: "serve": executable file not found in $PATH';
  const exit = { code: 128, reason: "StartError", message };
  const waiting = { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" };
  expect(podFault({ ...POD, running: false, waiting, exit }, MEMORY)).toMatch(/^the image has no program "serve": /);
});
