import { count } from '../view/format.ts';
import type { PageOf } from '../view/load.ts';

/** The number of rows in the first pages of a list. `isPartial` is true if the list has more pages. */
export interface Counted {
  readonly count: number;
  readonly isPartial: boolean;
}

export const MOST_PAGES = 10;

export const countPages = async (read: (cursor: string | undefined) => Promise<PageOf<unknown>>): Promise<Counted> => {
  let found = 0;
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { rows, next } = await read(cursor);
    found += rows.length;
    cursor = next;
    if (cursor === undefined) break;
  }
  return { count: found, isPartial: cursor !== undefined };
};

export const counted = ({ count: found, isPartial }: Counted): string =>
  `${count(found)}${isPartial ? ' or more' : ''}`;
