import { expect } from 'vitest';
import { itemsOf } from './flow.ts';
import type { TestHost } from './host.ts';

/** Runs the task. Expects that no payment was stored and that providers received only reads. */
export const unchanged = async (host: TestHost, task: () => Promise<void>): Promise<void> => {
  await host.settle();
  await host.clearProviderRequests();
  const stored = await itemsOf(host, 'PAY#');
  await task();
  await host.settle();
  expect(await itemsOf(host, 'PAY#')).toEqual(stored);
  const sent = (await host.providerRequests()).filter(({ method }) => method !== 'GET');
  expect(sent).toEqual([]);
};
