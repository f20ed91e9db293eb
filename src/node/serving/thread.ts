import { isMainThread, workerData } from "node:worker_threads";
import { type ThreadData, threadFile } from "./entry.ts";
import { answerSlowly, serve } from "./serve.ts";

// What a thread of a node begins with; nobody imports it.
if (!isMainThread) {
  // Whoever starts this file as a thread gives it that.
  const data = workerData as ThreadData;
  const file = threadFile();
  if (file === undefined) throw new Error("a thread of a node runs from the built program alone");
  if (data.role === "serving") serve(data, file);
  else answerSlowly(data);
}
