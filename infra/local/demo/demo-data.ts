import { DAY_MS } from '../../../shared/core/time.ts';
import { control, type Demo, type DemoSite, type DemoStep, openDemo } from './asking.ts';
import { paymentSteps } from './payments.ts';
import { peopleSteps } from './people.ts';
import { subscriptionSteps } from './subscriptions.ts';

/**
 * The demo data cover thirty days of a small school that sells courses and materials. The service's own routes make
 * them while the host's clock moves from then to the present. Every id is the same at every start, and times are
 * relative to the start. The examples of the API document name these records (functions/api/example-requests.ts).
 */
export const DEMO_DAYS = 31;

/**
 * Makes the demo data, and leaves the clock at the present.
 * @returns the id of each created record by its name
 * @throws Error if a route returns an unexpected status
 */
export const makeDemoData = async (site: DemoSite): Promise<ReadonlyMap<string, string>> => {
  const demo = openDemo(site);
  const failure = await tell(site, demo).catch((error: unknown) => ({ error }));
  await joinPresent(site);
  if (failure) throw failure.error;
  // The target and the journal start empty for the first payments that a person makes.
  await control(site, 'DELETE', '/sink/default');
  await control(site, 'DELETE', '/simulator/requests');
  return demo.ids();
};

const tell = async (site: DemoSite, demo: Demo): Promise<undefined> => {
  const present = site.present ?? Date.now();
  for (const [daysAgo, steps] of byMoment([...peopleSteps, ...paymentSteps, ...subscriptionSteps])) {
    await moveTo(site, Math.max(present - daysAgo * DAY_MS, site.now()));
    await Promise.all(steps.map(({ run }) => run(demo)));
  }
  return undefined;
};

/** Steps with the same time run concurrently, so they do not depend on each other. */
const byMoment = (steps: readonly DemoStep[]): readonly (readonly [daysAgo: number, steps: readonly DemoStep[]])[] =>
  [...Map.groupBy(steps, ({ daysAgo }) => daysAgo)].sort(([a], [b]) => b - a);

const moveTo = (site: DemoSite, at: number): Promise<unknown> =>
  control(site, 'POST', '/clock', { set: new Date(at).toISOString() });

/** A move itself takes time, so the next move closes the gap, until the clock joins real time. */
const joinPresent = async (site: DemoSite): Promise<unknown> => {
  if (site.present !== undefined) return moveTo(site, site.present);
  for (let tries = 0; tries < 5 && site.now() < Date.now(); tries += 1) {
    await moveTo(site, Date.now());
    await control(site, 'POST', '/clock', { freeze: false });
  }
  return undefined;
};
