/** @module Groups the delivery attempts of the log by event. */

import type { WebhookLog } from '../api/types.ts';
import type { LoadedPages } from '../view/load.ts';

/** An event with its attempts, newest first. */
export interface EventGroup {
  /** The id of the event. */
  readonly id: string;
  readonly newest: WebhookLog;
  readonly attempts: readonly WebhookLog[];
  /** The newest attempt at each target. */
  readonly byTarget: readonly WebhookLog[];
}

const groupsOf = (entries: readonly WebhookLog[]): readonly EventGroup[] =>
  [...Map.groupBy(entries, ({ event_id: id }) => id)].flatMap(([id, attempts]) => {
    const [newest] = attempts;
    if (!newest) return [];
    const targets = [...Map.groupBy(attempts, ({ target }) => target).values()];
    return [{ id, newest, attempts, byTarget: targets.flatMap(([first]) => first ?? []) }];
  });

/** The newest delivery to each target, without the log entry of a received provider event. */
export const deliveriesIn = ({ byTarget }: EventGroup): readonly WebhookLog[] =>
  byTarget.filter(({ direction }) => direction === 'outbound');

/** Groups attempts over all loaded pages, because one event can span two pages of the log. */
export const inGroups = (pages: LoadedPages<WebhookLog>): LoadedPages<EventGroup> => ({
  ...pages,
  rows: groupsOf(pages.rows),
});
