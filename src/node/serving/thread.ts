import { isMainThread, workerData } from "node:worker_threads";
import { type ThreadData, threadFile } from "./entry.ts";
import { answerSlowly, serve } from "./serve.ts";

// The entry file of a thread of a node; nothing imports it.
if (!isMainThread) {
  // The thread that starts this file passes this value.
  const data: ThreadData = workerData;
  const file = threadFile();
  if (file === undefined) throw new Error("a thread of a node runs from the built program alone");
  if (data.role === "serving") serve(data, file);
  else answerSlowly(data);
}
