import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Action, decideSlot, type Slot, type SlotRules, type Unit } from "./rollout.ts";

const unit = (id: string, overrides: Partial<Unit> = {}): Unit => ({
  id,
  running: true,
  ready: true,
  failing: false,
  hopeless: false,
  overdue: false,
  ...overrides,
});
const RULES: SlotRules = { stopFirst: false, abandoned: false, creatable: true, mayReplace: true };
const words = (actions: readonly Action[]) =>
  actions.map((action) => ("id" in action ? `${action.kind} ${action.id}` : action.kind));
const decide = (slot: Slot, rules: Partial<SlotRules> = {}) => words(decideSlot(slot, { ...RULES, ...rules }));

describe("what to do about a replica", () => {
  it("makes what is missing, once its image is there", () => {
    expect(decide({ current: undefined, olds: [] })).toEqual(["create"]);
    expect(decide({ current: undefined, olds: [] }, { creatable: false })).toEqual([]);
    expect(decide({ current: unit("new"), olds: [] })).toEqual(["keep new"]);
  });

  it("puts the new beside the old and removes the old when the new is ready", () => {
    expect(decide({ current: undefined, olds: [unit("old")] })).toEqual(["keep old", "create"]);
    const starting = unit("new", { ready: false });
    expect(decide({ current: starting, olds: [unit("old")] })).toEqual(["keep new", "keep old"]);
    expect(decide({ current: unit("new"), olds: [unit("old")] })).toEqual(["remove old"]);
  });

  it("ends with one of the two when the new one is not ready in time: the old one, unless that ends again and again", () => {
    const late = unit("new", { ready: false, overdue: true });
    expect(decide({ current: late, olds: [unit("old")] })).toEqual(["abandon new", "keep old"]);
    expect(decide({ current: late, olds: [unit("old", { ready: false })] })).toEqual(["abandon new", "keep old"]);
    const ended = unit("old", { ready: false, running: false, failing: true });
    expect(decide({ current: late, olds: [ended] })).toEqual(["keep new", "keep old"]);
    expect(decide({ current: late, olds: [{ ...ended, hopeless: true }] })).toEqual(["keep new", "remove old"]);
    expect(decide({ current: unit("new", { overdue: true }), olds: [unit("old")] })).toEqual(["remove old"]);
    expect(decide({ current: late, olds: [] })).toEqual(["keep new"]);
  });

  it("waits for its turn and keeps the old where there is no image or the roll-out failed before", () => {
    for (const rules of [{ mayReplace: false }, { creatable: false }, { abandoned: true }]) {
      expect(decide({ current: undefined, olds: [unit("old")] }, rules)).toEqual(["keep old"]);
    }
  });

  it("with a volume stops the old first, and goes back to it when the new one fails", () => {
    const rules = { stopFirst: true };
    expect(decide({ current: undefined, olds: [unit("old")] }, rules)).toEqual(["stop old", "create"]);
    const stopped = unit("old", { running: false, ready: false });
    expect(decide({ current: undefined, olds: [stopped] }, rules)).toEqual(["create"]);
    expect(decide({ current: unit("new", { ready: false }), olds: [stopped] }, rules)).toEqual(["keep new"]);
    const failing = unit("new", { ready: false, failing: true });
    expect(decide({ current: failing, olds: [stopped] }, rules)).toEqual(["abandon new"]);
    const broken = unit("old", { running: false, ready: false, failing: true });
    expect(decide({ current: undefined, olds: [broken] }, rules)).toEqual(["remove old", "create"]);
  });

  it("never removes or stops the last ready container unless something takes its place", () => {
    const flags = fc.record({
      running: fc.boolean(),
      ready: fc.boolean(),
      failing: fc.boolean(),
      hopeless: fc.boolean(),
      overdue: fc.boolean(),
    });
    const units = flags.map((value) => ({ ...value, ready: value.ready && value.running }));
    const slots = fc.record({ current: fc.option(units, { nil: undefined }), olds: fc.array(units, { maxLength: 4 }) });
    const rules = fc.record({
      stopFirst: fc.boolean(),
      abandoned: fc.boolean(),
      creatable: fc.boolean(),
      mayReplace: fc.boolean(),
    });
    fc.assert(
      fc.property(slots, rules, (shape, given) => {
        const slot: Slot = {
          current: shape.current === undefined ? undefined : { id: "new", ...shape.current },
          olds: shape.olds.map((old, index) => ({ id: `old${index}`, ...old })),
        };
        const actions = decideSlot(slot, given);
        const all = [...(slot.current === undefined ? [] : [slot.current]), ...slot.olds];
        const lost = new Set(
          actions.flatMap((action) => (action.kind === "remove" || action.kind === "stop" ? [action.id] : [])),
        );
        const readyBefore = all.some((entry) => entry.ready);
        const readyAfter = all.some((entry) => entry.ready && !lost.has(entry.id));
        const replaced = given.stopFirst && actions.some((action) => action.kind === "create");
        expect(!readyBefore || readyAfter || replaced).toBe(true);
        expect(actions.filter((action) => action.kind === "create").length).toBeLessThanOrEqual(1);
        expect(actions.some((action) => action.kind === "create") && slot.current !== undefined).toBe(false);
      }),
    );
  });
});
