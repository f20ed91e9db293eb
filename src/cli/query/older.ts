import { isMissingQuery } from "../../client/index.ts";

/** Calls the current version of a module, or the older one if the chain has no other. */
export async function newerOrOlder<T>(newer: () => Promise<T>, older: () => Promise<T>): Promise<T> {
  try {
    return await newer();
  } catch (error) {
    if (isMissingQuery(error)) return older();
    throw error;
  }
}
