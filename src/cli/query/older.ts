import { isMissingQuery } from "../../client/index.ts";

/** Asks a module as it is now, and as it was before where the chain has no other. */
export async function newerOrOlder<T>(newer: () => Promise<T>, older: () => Promise<T>): Promise<T> {
  try {
    return await newer();
  } catch (error) {
    if (isMissingQuery(error)) return older();
    throw error;
  }
}
