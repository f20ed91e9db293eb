import { dirname } from "node:path";

/** Importers and their imports; names are paths of files or folders. */
export type ImportGraph = ReadonlyMap<string, Iterable<string>>;

/** The groups of names that reach each other, by Tarjan's algorithm; a graph without cycles has none. */
export function cycles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (name: string): void => {
    order.set(name, order.size);
    low.set(name, order.get(name) ?? 0);
    stack.push(name);
    for (const next of graph.get(name) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(name, Math.min(low.get(name) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(name) !== order.get(name)) return;
    const group = stack.splice(stack.indexOf(name));
    if (group.length > 1) found.push(group.sort());
  };
  for (const name of graph.keys()) if (!order.has(name)) visit(name);
  return found;
}

/**
 * The imports between the rooms of a folder, its direct sub-folders. Files in the folder itself are its door and common
 * ground, and count for no room.
 */
export function rooms(folder: string, files: ImportGraph): ImportGraph {
  const roomOf = (path: string): string | undefined => {
    const rest = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split("/") : [];
    return rest.length > 1 ? rest[0] : undefined;
  };
  const graph = new Map<string, Set<string>>();
  for (const [path, targets] of files) {
    const room = roomOf(path);
    if (room === undefined) continue;
    const known = graph.get(room) ?? new Set();
    graph.set(room, known);
    for (const target of targets) {
      const other = roomOf(target);
      if (other !== undefined && other !== room) known.add(other);
    }
  }
  return graph;
}

/** Every folder that contains a file, directly or not. */
export function foldersOf(paths: Iterable<string>): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}
