import { expect, it } from "vitest";
import { reasonInText } from "./failure.ts";

it.each([
  ["invalid signal: no space left on device", "program"],
  ["container creation failed: image EXPOSE error setting rlimit type 6: operation not permitted", "program"],
  ["env fields from image: cgroup", "program"],
  ["unable to find user seccomp: no matching entries in passwd file", "program"],
  ['error mounting "tmpfs" to rootfs at "/f/tmp": not a directory', "program"],
  ["runc: error setting rlimit type 6: operation not permitted", "limits"],
  ["write /var/tmp/x: no space left on device", "space"],
])("takes words of an image for no fault of the host: %s", (text, reason) => {
  expect(reasonInText(text)).toBe(reason);
});
