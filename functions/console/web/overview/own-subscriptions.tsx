/** @module The caller's or an organization's subscriptions due soon or past due. */

import { answerOf, api, nextOffset } from '../api/client.ts';
import { serviceNow } from '../api/local.ts';
import type { Subscription } from '../api/types.ts';
import { counted, MOST_PAGES } from '../attention/counted.ts';
import { useLoaded } from '../view/load.ts';
import { Loading, ProblemNote } from '../view/parts.tsx';
import { withQuery } from '../view/route.tsx';
import { organizationInAddress, ownerAsked } from './read-summary.ts';
import { Tile } from './tile.tsx';

const DUE_MS = 7 * 86_400_000;

const readSubscriptions = async () => {
  const all: Subscription[] = [];
  let offset: string | undefined = '0';
  for (let pages = 0; pages < MOST_PAGES && offset !== undefined; pages += 1) {
    const query = {
      organization_id: ownerAsked(),
      status: 'active,trialing,past_due',
      offset: Number(offset),
    };
    const { data, response } = await answerOf(api.GET('/subscriptions', { params: { query } }));
    all.push(...data);
    offset = nextOffset(response);
  }
  const isPartial = offset !== undefined;
  const isDue = ({ status, next_billing_date: next }: Subscription): boolean =>
    status !== 'past_due' && next !== null && Date.parse(next) <= serviceNow() + DUE_MS;
  return {
    due: { count: all.filter(isDue).length, isPartial },
    pastDue: { count: all.filter(({ status }) => status === 'past_due').length, isPartial },
  };
};

const subscriptionsPage = (filters: Readonly<Record<string, string>>): string => {
  const organization = organizationInAddress();
  return withQuery('/subscriptions', new URLSearchParams({ ...filters, ...(organization && { organization }) }));
};

export const OwnSubscriptions = () => {
  const { data, problem, isLoading, reload } = useLoaded('subscriptions', readSubscriptions);
  return (
    <section class="part" aria-label="Subscriptions now">
      <h2>Subscriptions now</h2>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && isLoading && <Loading what="subscriptions now" lines={4} />}
      {data && (
        <dl class="tiles">
          <Tile name="Due" note="are charged within 7 days" to={subscriptionsPage({})}>
            {counted(data.due)}
          </Tile>
          <Tile name="Past due" note="a charge failed" to={subscriptionsPage({ status: 'past_due' })}>
            {counted(data.pastDue)}
          </Tile>
        </dl>
      )}
    </section>
  );
};
