import type { ErrorFactory } from "../util/index.ts";
import type { Context } from "./context.ts";
import { checkAuthority } from "./requests/requests.ts";

/** The message with which governance replaces all parameters of a module. */
interface UpdateParams<P> {
  readonly authority: string;
  readonly params?: P | undefined;
}

/**
 * Handler and stateless check of `MsgUpdateParams`. `problems` is the check of genesis too, so a proposal with
 * parameters that genesis would refuse is refused when it is submitted.
 */
export function updateParams<P>(spec: {
  readonly set: (ctx: Context, params: P) => void;
  readonly problems: (params: P) => readonly string[];
  readonly refuse: ErrorFactory;
}): {
  readonly handle: (ctx: Context, request: UpdateParams<P>) => object;
  readonly check: (request: UpdateParams<P>) => void;
} {
  return {
    handle(ctx, { authority, params }) {
      checkAuthority(authority);
      if (params !== undefined) spec.set(ctx, params);
      return {};
    },
    check({ params }) {
      const [problem] = params === undefined ? ["params: missing"] : found(() => spec.problems(params));
      if (problem !== undefined) throw spec.refuse(problem);
    },
  };
}

/** Decimals arrive as strings; reading ends at the first one that is not a number. */
function found(problems: () => readonly string[]): readonly string[] {
  try {
    return problems();
  } catch {
    return ["params: a value of it is malformed"];
  }
}
