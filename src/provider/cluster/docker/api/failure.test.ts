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
  [
    'exec: "/no": stat /no: no such file or directory: OCI runtime attempted to invoke a command that was not found',
    "program",
  ],
  ["openat2 /f/log: no such file or directory: OCI runtime attempted to invoke a command that was not found", "engine"],
  ['default OCI runtime "crun" not found: invalid argument', "runtime"],
  ["OCI runtime crun not found in any of its paths", "runtime"],
])("takes words of an image for no fault of the host: %s", (text, reason) => {
  expect(reasonInText(text)).toBe(reason);
});
