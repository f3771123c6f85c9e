import * as z from 'zod';
import type { Collection } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Answer, Call, VendorCaller } from '../../protocol/vendor.ts';
import { stripeNotFound } from './errors.ts';
import { type createdRange, page, readParameters } from './parameters.ts';
import { stripeVersionOf } from './versions.ts';

export type StripeObject = { readonly [field: string]: unknown };

/** One call of a Stripe route, within its transaction. */
export interface StripeRequest {
  readonly call: Call;
  readonly caller: VendorCaller;
  readonly unit: Unit;
  /** The `:id` of the path. */
  readonly id: string;
}

/** An object is returned with 200. An `answer` is an error that still commits, such as a declined charge. */
export type StripeReply = { readonly object: StripeObject } | { readonly answer: Answer };

export interface StripeRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** True if the publishable key may call the route. */
  readonly browser?: boolean;
  readonly run: (request: StripeRequest) => StripeReply;
}

export const none = z.strictObject({ expand: page.expand });

const DEFAULT_LIMIT = 10;
const MOST_LISTED = 100_000;

interface Listed<T> {
  readonly collection: Collection<T>;
  readonly view: (document: T) => StripeObject;
  readonly holder?: string | undefined;
  readonly wanted?: ((document: T) => boolean) | undefined;
  readonly kind: string;
}

interface PageParameters {
  readonly limit?: number | undefined;
  readonly starting_after?: string | undefined;
  readonly ending_before?: string | undefined;
  readonly created?: z.output<typeof createdRange> | undefined;
}

/** Stripe's list object, newest first. */
export const listPage = <T extends { readonly createdAt: number }>(
  { unit, call }: StripeRequest,
  parameters: PageParameters,
  listed: Listed<T>,
): StripeObject => {
  const limit = parameters.limit ?? DEFAULT_LIMIT;
  for (const param of ['starting_after', 'ending_before'] as const) {
    const id = parameters[param];
    if (id !== undefined && !listed.collection.get(unit.slot, id)) throw stripeNotFound(listed.kind, id, param);
  }
  const { created } = parameters;
  const isFiltered = listed.wanted !== undefined || created !== undefined;
  const found = listed.collection
    .list(unit.slot, {
      limit: isFiltered ? MOST_LISTED : limit + 1,
      holder: listed.holder,
      after: parameters.starting_after,
      before: parameters.ending_before,
    })
    .filter((document) => (listed.wanted?.(document) ?? true) && isWithin(document.createdAt, created));
  const backward = parameters.ending_before !== undefined;
  const shown = backward ? found.slice(-limit) : found.slice(0, limit);
  return { object: 'list', data: shown.map(listed.view), has_more: found.length > limit, url: call.path };
};

const isWithin = (createdAt: number, range: PageParameters['created']): boolean => {
  const at = Math.floor(createdAt / 1_000);
  if (range === undefined) return true;
  if (typeof range === 'number') return at === range;
  return (
    at > (range.gt ?? -1) &&
    at >= (range.gte ?? 0) &&
    at < (range.lt ?? Number.POSITIVE_INFINITY) &&
    at <= (range.lte ?? Number.POSITIVE_INFINITY)
  );
};

/** A route that reads one document by the id in its path. */
export const getRoute = <T>(
  path: string,
  kind: string,
  open: (
    unit: Unit,
    version: string,
  ) => { readonly collection: Collection<T>; readonly view: (document: T) => StripeObject },
): StripeRoute => ({
  method: 'GET',
  path,
  run: ({ call, unit, id }) => {
    readParameters(call, none);
    const { collection, view } = open(unit, stripeVersionOf(call));
    const document = collection.get(unit.slot, id);
    if (!document) throw stripeNotFound(kind, id, 'id');
    return { object: view(document) };
  },
});
