import * as z from 'zod';
import type { Collection } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Answer, Call, VendorCaller } from '../../protocol/vendor.ts';
import { stripeNotFound } from './errors.ts';
import { page, readParameters } from './parameters.ts';

export type StripeObject = { readonly [field: string]: unknown };

/** One call of a Stripe route, within its transaction. */
export interface StripeRequest {
  readonly call: Call;
  readonly caller: VendorCaller;
  readonly unit: Unit;
  /** The `:id` of the path. */
  readonly id: string;
}

/** An object is answered with 200; an `answer` is an error that still commits (a declined charge). */
export type StripeReply = { readonly object: StripeObject } | { readonly answer: Answer };

export interface StripeRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** May be called with the publishable key. */
  readonly browser?: boolean;
  readonly run: (request: StripeRequest) => StripeReply;
}

export const none = z.strictObject({ expand: page.expand });

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;

interface Listed<T> {
  readonly collection: Collection<T>;
  readonly view: (document: T) => StripeObject;
  readonly holder?: string | undefined;
  readonly kind: string;
}

interface PageParameters {
  readonly limit?: number | undefined;
  readonly starting_after?: string | undefined;
  readonly ending_before?: string | undefined;
}

/** Stripe's list object, newest first. */
export const listPage = <T>(
  { unit, call }: StripeRequest,
  parameters: PageParameters,
  listed: Listed<T>,
): StripeObject => {
  const limit = Math.min(Math.max(parameters.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
  for (const param of ['starting_after', 'ending_before'] as const) {
    const id = parameters[param];
    if (id !== undefined && !listed.collection.get(unit.slot, id)) throw stripeNotFound(listed.kind, id, param);
  }
  const found = listed.collection.list(unit.slot, {
    limit: limit + 1,
    holder: listed.holder,
    after: parameters.starting_after,
    before: parameters.ending_before,
  });
  const backward = parameters.ending_before !== undefined;
  const shown = backward ? found.slice(-limit) : found.slice(0, limit);
  return { object: 'list', data: shown.map(listed.view), has_more: found.length > limit, url: call.path };
};

/** A route that reads one document by the id in its path. */
export const getRoute = <T>(
  path: string,
  kind: string,
  open: (unit: Unit) => { readonly collection: Collection<T>; readonly view: (document: T) => StripeObject },
): StripeRoute => ({
  method: 'GET',
  path,
  run: ({ call, unit, id }) => {
    readParameters(call, none);
    const { collection, view } = open(unit);
    const document = collection.get(unit.slot, id);
    if (!document) throw stripeNotFound(kind, id, 'id');
    return { object: view(document) };
  },
});
