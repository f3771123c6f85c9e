import { isGone, readState } from '../api/calls.ts';
import { follow } from '../api/follow.ts';
import type { PageState } from '../api/state.ts';
import { useIsShown } from './parts.tsx';

/** How a page reads and shows its state. */
export interface Shown {
  readonly token: string;
  readonly show: (state: PageState) => void;
  readonly onGone: () => void;
}

/** `read` shows the current state once. `wait` polls until the condition holds, by default for a minute. */
export const useReading = ({ token, show, onGone }: Shown) => {
  const isShown = useIsShown();
  const read = async (): Promise<PageState | undefined> => {
    try {
      const now = await readState(token);
      show(now);
      return now;
    } catch (reason) {
      if (isGone(reason)) onGone();
      return undefined;
    }
  };
  const wait = (isOver: (now: PageState) => boolean, longestMs?: number): Promise<PageState | undefined> =>
    follow({ read, isOver, isAwaited: isShown, ...(longestMs !== undefined && { longestMs }) });
  return { read, wait };
};
