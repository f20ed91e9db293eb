import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Paced } from "./paced.ts";

/** A document that may be hidden. */
class Page extends EventTarget {
  hidden = false;

  hide(isHidden: boolean): void {
    this.hidden = isHidden;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

let page: Page;
beforeEach(() => {
  vi.useFakeTimers();
  page = new Page();
  vi.stubGlobal("document", page);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Work that ends after a time, and counts how often it has begun. */
function counted(ms = 0): { readonly paced: Paced; readonly begun: () => number } {
  let begun = 0;
  const paced = new Paced(async () => {
    begun += 1;
    await new Promise((resolve) => setTimeout(resolve, ms));
  });
  return { paced, begun: () => begun };
}

describe("paced work", () => {
  it("is done at once, and once more a second later, however often it is wanted", async () => {
    const { paced, begun } = counted();
    paced.want();
    expect(begun()).toBe(1);
    for (let i = 0; i < 9; i++) {
      paced.want();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(begun()).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(begun()).toBe(2);
  });

  it("is never done twice at a time", async () => {
    const { paced, begun } = counted(5_000);
    paced.want();
    paced.want();
    await vi.advanceTimersByTimeAsync(4_999);
    expect(begun()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun()).toBe(2);
  });

  it("waits while the page is hidden, save for the first time", async () => {
    page.hidden = true;
    const { paced, begun } = counted();
    paced.want();
    paced.want();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun()).toBe(1);
    page.hide(false);
    expect(begun()).toBe(2);
  });

  it("is not done any more after its end", async () => {
    const { paced, begun } = counted();
    paced.want();
    paced.want();
    paced.end();
    page.hide(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun()).toBe(1);
  });
});
