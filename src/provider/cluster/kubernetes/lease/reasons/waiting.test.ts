import { describe, expect, it } from "vitest";
import { sampleService } from "../../../../../../test/support/conformance/index.ts";
import { type Hindrance, hindranceOf } from "../../view/hindrances.ts";
import type { ObservedPod } from "../../view/pods.ts";
import { waitError } from "./waiting.ts";

const sample = sampleService("docker.io/library/web:1");
const attributes = [{ key: "persistent", value: "true" }];
const SERVICE = {
  ...sample,
  resources: { ...sample.resources, storage: [{ name: "data", size: { val: "5" }, attributes }] },
};
const POD: ObservedPod = {
  ...{ namespace: "lease", name: "web-0", uid: "1", service: "web", config: "", createdAt: 0, ordinal: 0 },
  ...{ placed: false, terminating: false, ended: false, ip: undefined, ready: false, probed: true, running: false },
  ...{ container: "", restarts: 0, ownRestarts: 0, waiting: undefined, exit: undefined, trouble: undefined },
};

/** The message about a pod whose claim was refused for the reason, and that a node cannot start. */
function said(pod: Partial<ObservedPod>, reason: string | undefined, hindrance?: Hindrance): string | undefined {
  const view = {
    volumeRefusal: (space: string, claim: string) =>
      `${space}/${claim}` === "lease/vol-data-web-0" ? reason : undefined,
    hindrance: () => hindrance,
  };
  return waitError(view, SERVICE, { ...POD, ...pod });
}

describe("a pod that waits for a volume", () => {
  it("says why nobody makes it, also while the scheduler says nothing", () => {
    const sentence = 'the cluster does not make its volume "data": no space';
    expect(said({}, "no space")).toBe(sentence);
    expect(said({ trouble: "pod has unbound immediate PersistentVolumeClaims." }, "no space")).toBe(sentence);
  });

  it("says in plain words that it waits where no reason is known", () => {
    const told = said(
      { trouble: "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims." },
      undefined,
    );
    expect(told).toBe("the cluster has not made its volumes yet; ask the provider if that lasts");
    expect(said({}, undefined)).toBeUndefined();
  });

  it("lets the scheduler say what else it waits for, and a reason rest when it has a node", () => {
    expect(said({ trouble: "0/1 nodes are available: 1 Insufficient cpu." }, "no space")).toBeUndefined();
    expect(said({ placed: true }, "no space")).toBeUndefined();
  });
});

describe("a pod that its node does not start", () => {
  const waiting = { reason: "ContainerCreating", message: "" };

  it.each([
    ["FailedMount", 'path "/srv/volumes/1" does not exist', /^the node cannot mount its volumes yet/],
    ["FailedCreatePodSandBox", "cni plugin at /opt/cni failed", /^the node cannot start it yet/],
    ["FailedCreatePodSandBox", 'desc = no runtime for "gvisor" is configured', /^the node lacks the runtime "gvisor"/],
  ])("says so of %s without the node's own words: %s", (reason, message, sentence) => {
    const told = said({ placed: true, waiting }, undefined, hindranceOf(reason, message));
    expect(told).toMatch(sentence);
    expect(told).not.toContain("/");
  });

  it("says nothing of it once its program has run, nor of events about something else", () => {
    const hindrance = hindranceOf("FailedMount", "");
    expect(said({ placed: true, running: true }, undefined, hindrance)).toBeUndefined();
    expect(said({ placed: true, waiting, exit: { code: 1, reason: "Error" } }, undefined, hindrance)).toBeUndefined();
    expect(hindranceOf("Unhealthy", "")).toBeUndefined();
  });
});
