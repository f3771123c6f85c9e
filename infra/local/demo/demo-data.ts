/**
 * @module Thirty days of demo data for a small school that sells courses and materials. The service's own routes create
 * the data while the host's clock moves to the present. Ids are the same at every start, and times are relative to the
 * start. The examples of the API document name these records (functions/api/example-requests.ts).
 */
import { DAY_MS } from '../../../shared/core/time.ts';
import { control, type Demo, type DemoSite, type DemoStep, openDemo } from './asking.ts';
import { paymentSteps } from './payments.ts';
import { peopleSteps } from './people.ts';
import { subscriptionSteps } from './subscriptions.ts';

export const DEMO_DAYS = 31;

/**
 * Creates the demo data, and leaves the clock at the present.
 * @returns the ids of the created records by name
 * @throws Error if a route returns an unexpected status
 */
export const makeDemoData = async (site: DemoSite): Promise<ReadonlyMap<string, string>> => {
  const demo = openDemo(site);
  const failure = await tell(site, demo).catch((error: unknown) => ({ error }));
  await joinPresent(site);
  if (failure) throw failure.error;
  // Empty the webhook target and the journal, so they show only the user's own payments.
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

/** Groups steps by time. Steps of one group run concurrently, so they must not depend on each other. */
const byMoment = (steps: readonly DemoStep[]): readonly (readonly [daysAgo: number, steps: readonly DemoStep[]])[] =>
  [...Map.groupBy(steps, ({ daysAgo }) => daysAgo)].sort(([a], [b]) => b - a);

const moveTo = (site: DemoSite, at: number): Promise<unknown> =>
  control(site, 'POST', '/clock', { set: new Date(at).toISOString() });

/**
 * Moves the clock to the present. Repeats the move until the clock has joined real time, because each move itself takes
 * time.
 */
const joinPresent = async (site: DemoSite): Promise<unknown> => {
  if (site.present !== undefined) return moveTo(site, site.present);
  for (let tries = 0; tries < 5 && site.now() < Date.now(); tries += 1) {
    await moveTo(site, Date.now());
    await control(site, 'POST', '/clock', { freeze: false });
  }
  return undefined;
};
