/** @module The success rate of each target over the last 24 hours. */

import { serviceNow } from '../api/local.ts';
import type { WebhookLog } from '../api/types.ts';
import { count, percent } from '../view/format.ts';
import type { PageOf } from '../view/load.ts';
import { Time } from '../view/parts.tsx';
import { readLog } from './read-log.ts';

const DAY_MS = 86_400_000;
const MOST_PAGES = 10;

/** The deliveries of the last 24 hours, from at most ten pages of the log. */
export interface Rates {
  readonly deliveries: readonly WebhookLog[];
  /** False if more deliveries exist than were read. */
  readonly isWholeDay: boolean;
}

export const readRates = async (): Promise<Rates> => {
  const since = new Date(serviceNow() - DAY_MS).toISOString();
  const deliveries: WebhookLog[] = [];
  let next: string | undefined = '0';
  let isPast = false;
  for (let pages = 0; pages < MOST_PAGES && next !== undefined && !isPast; pages += 1) {
    const page: PageOf<WebhookLog> = await readLog({}, next);
    deliveries.push(
      ...page.rows.filter(({ created_at, direction }) => direction === 'outbound' && created_at >= since),
    );
    isPast = page.rows.some(({ created_at }) => created_at < since);
    next = page.next;
  }
  return { deliveries, isWholeDay: isPast || next === undefined };
};

export const RatesView = ({ rates: { deliveries, isWholeDay } }: { readonly rates: Rates }) => {
  if (deliveries.length === 0) return <p class="quiet">No event was sent in the last 24 hours.</p>;
  const targets = [...new Set(deliveries.map(({ target }) => target ?? ''))].sort();
  return (
    <>
      <dl class="tiles">
        {targets.map((target) => {
          const ofTarget = deliveries.filter((delivery) => delivery.target === target);
          const delivered = ofTarget.filter(({ status }) => status === 'success').length;
          return (
            <div key={target} class="tile">
              <dt>{target}</dt>
              <dd>
                <strong>{percent(delivered / ofTarget.length)}</strong>
                <span class="quiet">
                  {count(delivered)} of {count(ofTarget.length)} attempts
                </span>
              </dd>
            </div>
          );
        })}
      </dl>
      {!isWholeDay && (
        <p class="quiet">
          Covers the last {count(deliveries.length)} attempts, since{' '}
          <Time at={deliveries.at(-1)?.created_at ?? ''} exact={true} />, because the day has more deliveries than this
          page reads.
        </p>
      )}
    </>
  );
};
