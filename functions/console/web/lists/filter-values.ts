/** @module The values of a list's filters, from the address bar. */

import type { ProviderConfig } from '../api/types.ts';
import { place } from '../view/route.tsx';

/** The value of a filter; undefined if it is empty. */
export const filterText = (name: string): string | undefined => place.value.query.get(name) || undefined;

/** The value of a filter; undefined if the API would refuse it. */
export const filterChoice = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === filterText(name));

/**
 * The organization of the listed records. An empty value requests the caller's own records, whatever the session's
 * organization is.
 */
export const ownersChoice = (): string => filterText('organization') ?? '';

const PROVIDER_SLOTS: readonly ProviderConfig['provider_id'][] = [
  'provider_a',
  'provider_b',
  'provider_c',
  'provider_d',
];

export const providerChoice = (): ProviderConfig['provider_id'] | undefined => filterChoice('provider', PROVIDER_SLOTS);
