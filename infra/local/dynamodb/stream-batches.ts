/**
 * @module Processes a stream batch in order until each record is done or given up, like Lambda's event source mapping.
 * A retry starts at the first failed record. A failing batch is bisected, so one bad record delays the others by at
 * most ten tries.
 */

export interface BatchOptions<Item> {
  /** @returns the index of the first failed item, or undefined if all succeeded. A throw fails the whole batch. */
  readonly run: (items: readonly Item[]) => Promise<number | undefined>;
  /** Marks everything up to this item as processed. */
  readonly advance: (item: Item) => void;
  readonly giveUp: (item: Item, error: unknown) => Promise<void>;
  /** Returns true to stop between tries. Unprocessed records are read again later. */
  readonly stopped: () => boolean;
  readonly pauseMs: (tries: number) => number;
}

export const MAX_TRIES = 10;

interface Part<Item> {
  readonly items: readonly Item[];
  /** Failed tries of the first item. */
  readonly tries: number;
}

export const processBatch = async <Item>(items: readonly Item[], options: BatchOptions<Item>): Promise<void> => {
  const parts: Part<Item>[] = [{ items, tries: 0 }];
  for (let part = parts.shift(); part && !options.stopped(); part = parts.shift()) {
    const { failedAt, error } = await attempt(part.items, options);
    const done = part.items.slice(0, failedAt);
    const left = part.items.slice(failedAt);
    const lastDone = done.at(-1);
    if (lastDone !== undefined) options.advance(lastDone);
    const [first] = left;
    if (first === undefined) continue;
    const tries = done.length > 0 ? 1 : part.tries + 1;
    if (left.length === 1 && tries >= MAX_TRIES) {
      await options.giveUp(first, error);
      options.advance(first);
      continue;
    }
    parts.unshift(...halves(left, tries));
    await new Promise((resolve) => setTimeout(resolve, options.pauseMs(tries)));
  }
};

const attempt = async <Item>(
  items: readonly Item[],
  { run }: BatchOptions<Item>,
): Promise<{ readonly failedAt: number; readonly error: unknown }> => {
  try {
    return { failedAt: (await run(items)) ?? items.length, error: undefined };
  } catch (error) {
    return { failedAt: 0, error };
  }
};

const halves = <Item>(items: readonly Item[], tries: number): readonly Part<Item>[] => {
  if (items.length === 1) return [{ items, tries }];
  const middle = Math.ceil(items.length / 2);
  return [
    { items: items.slice(0, middle), tries },
    { items: items.slice(middle), tries: 0 },
  ];
};
