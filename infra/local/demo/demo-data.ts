import { DAY } from '../../../shared/core/time.ts';
import { control, type Demo, type DemoSite, type DemoStep, openDemo } from './asking.ts';
import { paymentSteps } from './payments.ts';
import { peopleSteps } from './people.ts';
import { subscriptionSteps } from './subscriptions.ts';

/**
 * The demo data: thirty days of a small school that sells courses and materials, made by the service's own routes while
 * the host's clock moves from then to the present. Every id is the same at every start; times are relative to the start.
 * The examples of the API document name these records (functions/api/example-requests.ts).
 */
export const DEMO_DAYS = 31;

/**
 * Makes the demo data, and leaves the clock at the present.
 * @returns the id of each created record by its name @throws Error where a route answers otherwise than expected
 */
export const makeDemoData = async (site: DemoSite): Promise<ReadonlyMap<string, string>> => {
  const demo = openDemo(site);
  const failure = await tell(site, demo).catch((error: unknown) => ({ error }));
  await joinPresent(site);
  if (failure) throw failure.error;
  // The target and the journal begin empty for the first payments that a person makes.
  await control(site, 'DELETE', '/sink/default');
  await control(site, 'DELETE', '/simulator/requests');
  return demo.ids();
};

const tell = async (site: DemoSite, demo: Demo): Promise<undefined> => {
  const present = site.present ?? Date.now();
  for (const [daysAgo, steps] of byMoment([...peopleSteps, ...paymentSteps, ...subscriptionSteps])) {
    await moveTo(site, Math.max(present - daysAgo * DAY, site.now()));
    await Promise.all(steps.map(({ run }) => run(demo)));
  }
  return undefined;
};

/** Steps of one moment run at once, and use nothing of each other. */
const byMoment = (steps: readonly DemoStep[]): readonly (readonly [daysAgo: number, steps: readonly DemoStep[]])[] =>
  [...Map.groupBy(steps, ({ daysAgo }) => daysAgo)].sort(([a], [b]) => b - a);

const moveTo = (site: DemoSite, at: number): Promise<unknown> =>
  control(site, 'POST', '/clock', { set: new Date(at).toISOString() });

/** A move takes time itself: the next one closes the gap, until the clock joins real time. */
const joinPresent = async (site: DemoSite): Promise<unknown> => {
  if (site.present !== undefined) return moveTo(site, site.present);
  for (let tries = 0; tries < 5 && site.now() < Date.now(); tries += 1) {
    await moveTo(site, Date.now());
    await control(site, 'POST', '/clock', { freeze: false });
  }
  return undefined;
};
