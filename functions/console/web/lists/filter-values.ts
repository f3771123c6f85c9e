/** @module The values of a list's filters, which are in the address bar. */

import type { ProviderConfig } from '../api/types.ts';
import { place } from '../view/route.tsx';

/** The value of a filter; undefined if it is empty. */
export const filterText = (name: string): string | undefined => place.value.query.get(name) || undefined;

/** The value of a filter, if the API accepts it. Any other value in the address bar counts as absent. */
export const filterChoice = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === filterText(name));

/**
 * The organization whose records are listed. An empty value requests the caller's own records, regardless of the
 * organization of the session.
 */
export const ownersChoice = (): string => filterText('organization') ?? '';

const PROVIDER_SLOTS: readonly ProviderConfig['provider_id'][] = [
  'provider_a',
  'provider_b',
  'provider_c',
  'provider_d',
];

export const providerChoice = (): ProviderConfig['provider_id'] | undefined => filterChoice('provider', PROVIDER_SLOTS);
