/** Lines of one replica, in the order in which it wrote them. */
interface LineSource<L> {
  readonly name: string;
  readonly lines: AsyncGenerator<L, undefined>;
}

/** Time of a line, and the signal that ends the merge. */
interface MergeOptions<L> {
  readonly timeOf: (line: L) => number;
  readonly signal: AbortSignal;
}

/**
 * Lines of several replicas by their time, each with the name of its replica. Keeps only the next line of each replica
 * in memory.
 */
export async function* mergedByTime<L>(
  sources: readonly LineSource<L>[],
  { timeOf, signal }: MergeOptions<L>,
): AsyncGenerator<readonly [name: string, line: L], undefined> {
  const timeOfNext = (next: IteratorResult<L, undefined>): number =>
    next.done === true ? Number.POSITIVE_INFINITY : timeOf(next.value);
  try {
    const heads = await Promise.all(
      sources.map(async ({ name, lines }) => ({ name, lines, next: await lines.next() })),
    );
    for (;;) {
      const open = heads.filter(({ next }) => next.done !== true);
      const [first] = open.sort((a, b) => timeOfNext(a.next) - timeOfNext(b.next));
      if (first === undefined || first.next.done === true || signal.aborted) return;
      yield [first.name, first.next.value];
      first.next = await first.lines.next();
    }
  } finally {
    await Promise.all(sources.map(({ lines }) => lines.return(undefined)));
  }
}
