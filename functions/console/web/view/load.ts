/** @module Hooks for reading one record or a paged list from the API. A response to an outdated request is dropped. */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';

/** Loaded data, with the states that every page shows. */
export interface Loaded<Data> {
  readonly data: Data | undefined;
  readonly isLoading: boolean;
  readonly problem: Problem | undefined;
  /** Reads again. The old data stays visible until the response arrives. */
  readonly reload: () => void;
}

export const asProblem = (reason: unknown): Problem =>
  reason instanceof Problem
    ? reason
    : new Problem(reason instanceof Error ? reason.message : String(reason), { status: 0 });

interface LoadState<Data> {
  readonly key: string;
  readonly data?: Data | undefined;
  readonly isLoading: boolean;
  readonly problem?: Problem | undefined;
}

/** Reads when the page opens and when the key changes. A response for an earlier key is dropped. */
export const useLoaded = <Data>(key: string, load: () => Promise<Data>): Loaded<Data> => {
  const [state, setState] = useState<LoadState<Data>>({ key, isLoading: true });
  const latest = useRef({ load, turn: 0 });
  latest.current.load = load;
  const run = useCallback(async (asked: string) => {
    latest.current.turn += 1;
    const { turn } = latest.current;
    const isLatest = () => latest.current.turn === turn;
    setState((before) => ({ key: asked, isLoading: true, ...(before.key === asked && { data: before.data }) }));
    try {
      const data = await latest.current.load();
      if (isLatest()) setState({ key: asked, data, isLoading: false });
    } catch (reason) {
      if (isLatest()) setState((before) => ({ ...before, isLoading: false, problem: asProblem(reason) }));
    }
  }, []);
  useEffect(() => {
    void run(key);
    return () => {
      latest.current.turn += 1;
    };
  }, [key, run]);
  const reload = useCallback(() => void run(key), [key, run]);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    isLoading: !isCurrent || state.isLoading,
    problem: isCurrent ? state.problem : undefined,
    reload,
  };
};

/** A list that is read page by page. */
export interface LoadedPages<Row> {
  /** The loaded rows. While a new filter loads, the rows of the previous filter stay. */
  readonly rows: readonly Row[];
  readonly isLoading: boolean;
  readonly problem: Problem | undefined;
  /** Loads the next page; undefined on the last page. */
  readonly more: (() => void) | undefined;
  readonly retry: () => void;
}

export interface PageOf<Row> {
  readonly rows: readonly Row[];
  /** The position of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

interface PagesState<Row> extends PageOf<Row> {
  readonly key: string;
  readonly isLoading: boolean;
  readonly problem?: Problem | undefined;
}

/** Reads further pages until this many rows are found, because a page can have few or no matching rows. */
const FEWEST_ROWS = 20;
const MOST_PAGES_AT_ONCE = 12;

/** Reads the first page when the list opens and when the key (the filter) changes. */
export const usePages = <Row>(
  key: string,
  load: (cursor: string | undefined) => Promise<PageOf<Row>>,
): LoadedPages<Row> => {
  const [state, setState] = useState<PagesState<Row>>({ key, rows: [], next: undefined, isLoading: true });
  const latest = useRef({ load, turn: 0 });
  latest.current.load = load;
  const read = useCallback(async (asked: string, before: readonly Row[], cursor: string | undefined) => {
    latest.current.turn += 1;
    const { turn } = latest.current;
    const isLatest = () => latest.current.turn === turn;
    const isReload = cursor === undefined;
    setState((old) => ({ key: asked, rows: isReload ? old.rows : before, next: cursor, isLoading: true }));
    try {
      const rows = [...before];
      let next = cursor;
      let pages = 0;
      do {
        const page = await latest.current.load(next);
        if (!isLatest()) return;
        rows.push(...page.rows);
        next = page.next;
        pages += 1;
        setState({ key: asked, rows: [...rows], next, isLoading: true });
      } while (next !== undefined && rows.length < before.length + FEWEST_ROWS && pages < MOST_PAGES_AT_ONCE);
      setState({ key: asked, rows, next, isLoading: false });
    } catch (reason) {
      const problem = asProblem(reason);
      if (isLatest()) setState({ key: asked, rows: before, next: cursor, isLoading: false, problem });
    }
  }, []);
  useEffect(() => {
    void read(key, [], undefined);
    return () => {
      latest.current.turn += 1;
    };
  }, [key, read]);
  const isCurrent = state.key === key;
  const shown = isCurrent ? state : { rows: state.rows, next: undefined, isLoading: true, problem: undefined };
  return {
    rows: shown.rows,
    isLoading: shown.isLoading,
    problem: shown.problem,
    more: shown.next === undefined ? undefined : () => void read(key, shown.rows, shown.next),
    retry: () => void read(key, shown.rows, shown.next),
  };
};
