/** @module Checks in which API version a provider sends its events to the service. */

import type { ProviderSlot } from '../../../shared/core/settings.ts';
import type { EventEndpoint } from '../../../shared/providers/provider.ts';
import type { Installation } from '../installation/installation.ts';
import { type Check, runCheck } from './checks.ts';

/** @returns no check if the slot is closed or the provider's events have no version */
export const eventsVersionChecks = async (
  { deps }: Pick<Installation, 'deps'>,
  slot: ProviderSlot,
): Promise<readonly Check[]> => {
  const versions = (await deps.providers.find(slot))?.eventVersions;
  if (!versions) return [];
  const check = `${slot} events`;
  const found = runCheck(check, async () => {
    const listed = await versions.endpoints();
    if (listed.kind !== 'done') {
      const reason = 'reason' in listed ? listed.reason : listed.kind;
      return { check, state: 'closed', detail: `the webhook endpoints cannot be read: ${reason}` };
    }
    const ours = listed.value.filter((endpoint) => isOurs(endpoint, slot));
    if (ours.length === 0)
      return { check, state: 'closed', detail: `no enabled webhook endpoint ends in ${pathOf(slot)}` };
    const others = ours.filter(({ version }) => version !== versions.pinned);
    if (others.length === 0) return { check, state: 'ok', detail: `are sent in version ${versions.pinned}` };
    const named = others.map(({ url, version = 'the default of the account' }) => `${url} has ${version}`);
    return {
      check,
      state: 'fail',
      detail: `are sent in another version than ${versions.pinned}; register the endpoint with it: ${named.join(', ')}`,
    };
  });
  return [await found];
};

const pathOf = (slot: ProviderSlot): string => `/webhooks/${slot}`;

/** On Lambda, the receiver's own URL has no path. */
const FUNCTION_URL = /^https:\/\/[a-z0-9]+\.lambda-url\.[a-z0-9-]+\.on\.aws\/?$/;

/** True for our enabled endpoint. The account may also have endpoints of other systems. */
const isOurs = ({ url, isEnabled }: EventEndpoint, slot: ProviderSlot): boolean =>
  isEnabled && (URL.parse(url)?.pathname.endsWith(pathOf(slot)) === true || FUNCTION_URL.test(url));
