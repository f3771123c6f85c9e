/**
 * @module The page with the records that support or operators must act on, for staff and platform admins. A check
 * without records takes one line.
 */

import { answerOf, api } from '../api/client.ts';
import { useLoaded } from '../view/load.ts';
import { Loading, PageHead, ProblemNote } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';
import { type Check, useChecks } from './health-checks.tsx';

export const HealthPage = () => {
  const service = useLoaded('health', async () => (await answerOf(api.GET('/health'))).data);
  const checks = useChecks();
  const isReading = (!service.data && service.isLoading) || checks.some(({ state }) => state === 'reading');
  const well = [
    ...(service.data ? ['the service works and responds to requests'] : []),
    ...checks.flatMap((check) => (check.state === 'well' ? [check.well] : [])),
  ];
  return (
    <>
      <PageHead title="Health" tab="Health" />
      {service.problem && <ProblemNote problem={service.problem} onRetry={service.reload} />}
      {checks.map((check) => check.state === 'open' && <Part key={check.title} check={check} />)}
      {isReading && <Loading what="the checks" />}
      {!isReading && well.length > 0 && (
        <section class="card" aria-label="All well">
          <h2 class="unseen">All well</h2>
          <p>
            <span class="status status-good">All well</span> {well.join(', ')}.
          </p>
        </section>
      )}
      <p class="quiet">
        Engineers check the settings, the queues and the keys of the providers. Their checks are on the page{' '}
        <Link to="/developers">Developers</Link>.
      </p>
    </>
  );
};

const Part = ({ check: { title, about, content } }: { readonly check: Check }) => (
  <section class="part" aria-label={title}>
    <h2>{title}</h2>
    <p class="quiet about">{about}</p>
    {content}
  </section>
);
