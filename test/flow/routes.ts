/** @module Types of the API's bodies by method and path, derived from the endpoint declarations. */

import type * as z from 'zod';
import type { addressEndpoints } from '../../functions/addresses/endpoints.ts';
import type { adminEndpoints } from '../../functions/admin/endpoints.ts';
import type { erasureEndpoints } from '../../functions/admin/erasure-endpoints.ts';
import type { exportEndpoints } from '../../functions/admin/export-endpoints.ts';
import type { keyEndpoints } from '../../functions/admin/key-endpoints.ts';
import type { referenceEndpoints } from '../../functions/admin/reference-endpoints.ts';
import type { docsEndpoints } from '../../functions/api/endpoints.ts';
import type { customerEndpoints } from '../../functions/customers/endpoints.ts';
import type { disputeEndpoints } from '../../functions/disputes/endpoints.ts';
import type { membershipEndpoints } from '../../functions/memberships/endpoints.ts';
import type { organizationEndpoints } from '../../functions/organizations/endpoints.ts';
import type { pageEndpoints } from '../../functions/pay/endpoints.ts';
import type { paymentLinkEndpoints } from '../../functions/payment-links/endpoints.ts';
import type { methodEndpoints } from '../../functions/payment-methods/endpoints.ts';
import type { paymentEndpoints } from '../../functions/payments/endpoints.ts';
import type { capturePaymentEndpoint } from '../../functions/payments/hold-endpoints.ts';
import type { linkPaymentEndpoint } from '../../functions/payments/link-endpoints.ts';
import type { productEndpoints } from '../../functions/products/endpoints.ts';
import type { projectEndpoints } from '../../functions/projects/endpoints.ts';
import type { refundEndpoints } from '../../functions/refunds/endpoints.ts';
import type { subscriptionEndpoints } from '../../functions/subscriptions/endpoints.ts';
import type { linkSubscriptionEndpoint } from '../../functions/subscriptions/link-endpoints.ts';
import type { planEndpoints } from '../../functions/subscriptions/plan-endpoints.ts';
import type { webhookEndpoints } from '../../functions/webhooks/endpoints.ts';
import type { Envelope as BusEnvelope } from '../../infra/local/messaging/bus.ts';
import type { ledgerView } from '../../infra/simulator/control/ledger-view.ts';
import type { EVENTS } from '../../shared/openapi/event-bodies.ts';

/** JSON without a schema. The test asserts its structure. */
export type ParsedJson = ReturnType<typeof JSON.parse>;

type Declared =
  | (typeof addressEndpoints)[number]
  | (typeof adminEndpoints)[number]
  | (typeof customerEndpoints)[number]
  | (typeof disputeEndpoints)[number]
  | (typeof docsEndpoints)[number]
  | (typeof erasureEndpoints)[number]
  | (typeof exportEndpoints)[number]
  | (typeof keyEndpoints)[number]
  | (typeof membershipEndpoints)[number]
  | (typeof methodEndpoints)[number]
  | (typeof organizationEndpoints)[number]
  | (typeof pageEndpoints)[number]
  | (typeof paymentLinkEndpoints)[number]
  | (typeof paymentEndpoints)[number]
  | (typeof planEndpoints)[number]
  | (typeof productEndpoints)[number]
  | (typeof projectEndpoints)[number]
  | (typeof referenceEndpoints)[number]
  | (typeof refundEndpoints)[number]
  | (typeof subscriptionEndpoints)[number]
  | (typeof webhookEndpoints)[number]
  | typeof capturePaymentEndpoint
  | typeof linkPaymentEndpoint
  | typeof linkSubscriptionEndpoint;

type RouteOf<E> = E extends { readonly route?: infer R extends object } ? R : never;

/** The success responses by method and path, such as `GET /payments/{id}`. */
type Successes = {
  readonly [R in RouteOf<Declared> as `${R['method']} ${R['path']}`]: R['success'];
};

type Primitive = string | number | boolean | bigint;
type KeyOf<O> = O extends O ? keyof { [K in keyof O as string extends K ? never : K]: 1 } : never;
type ValueOf<O, K> = O extends O ? (K extends keyof O ? O[K] : never) : never;

/**
 * A response value as a test reads it. Fields are neither optional nor nullable, because the test asserts their
 * presence. A union has the fields of all its members.
 */
export type Shown<T> = unknown extends T
  ? ParsedJson
  : Extract<T, Primitive> | ShownObject<Exclude<T, Primitive | null | undefined>>;

type ShownObject<O> = [O] extends [never]
  ? never
  : [O] extends [readonly (infer E)[]]
    ? Shown<E>[]
    : [KeyOf<O>] extends [never]
      ? O
      : { readonly [K in KeyOf<O>]: Shown<ValueOf<O, K>> };

export interface ShownProblem {
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

/** The details of all error codes. A body has only the details of its own code. */
interface Details extends ReadonlyArray<ShownProblem> {
  readonly payment_id: string;
  readonly decline_code: string;
  readonly minimum_cents: number;
}

/** The body of a refusal. The status shows the test whether a body is a refusal. */
export interface RefusalBody {
  readonly code: string;
  readonly error: string;
  readonly details: Details;
  readonly request_id: string;
}

type Envelope<S> = S extends { data: infer Data; meta: infer Meta; beside: infer Beside }
  ? { readonly success: boolean; readonly data: Shown<Data>; readonly meta: Shown<Meta>; readonly message: string } & {
      readonly [K in keyof Beside]: Shown<Beside[K]>;
    }
  : never;

type SuccessBody<S> = S extends { form: 'bare'; data: infer Data }
  ? [Data] extends [undefined]
    ? unknown
    : Shown<Data>
  : Envelope<S>;

/** The bodies by method and path, with the fields of both success and refusal. */
type Bodies = { readonly [K in keyof Successes]: SuccessBody<Successes[K]> & RefusalBody };

/** The routes of a method, each with the part of its path that is still to be compared. */
type Candidate<Method extends string> = {
  [K in keyof Successes]: K extends `${Method} /${infer Path}` ? [`${Path}/`, K] : never;
}[keyof Successes];

type Fixed<C, Segment extends string> = C extends [`${Segment}/${infer Rest}`, infer K] ? [Rest, K] : never;
type Named<C> = C extends [`{${string}}/${infer Rest}`, infer K] ? [Rest, K] : never;
type Step<C, Segment extends string> = '' extends Segment
  ? Named<C>
  : [Fixed<C, Segment>] extends [never]
    ? Named<C>
    : Fixed<C, Segment>;

type Found<C, Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? Found<Step<C, Segment>, Rest>
  : Step<C, Path> extends infer End
    ? End extends ['', infer K extends keyof Bodies]
      ? K
      : never
    : never;

type WithoutQuery<Path extends string> = Path extends `${infer Before}?${string}` ? Before : Path;

type RouteAt<Method extends string, Path extends string> =
  WithoutQuery<Path> extends `/${infer Segments}` ? Found<Candidate<Method>, Segments> : never;

/** Paths without a schema, such as the host's own paths, other catalogues, and queries with `include`. */
type WithoutSchema =
  | `/_local${string}`
  | `/items${string}`
  | `/pay/${string}`
  | `${string}?${string}include${string}`
  | '/openapi.json';

/** The body of a request to this path. Without a matching route, it is a refusal. */
export type BodyAt<Method extends string, Path extends string> = string extends Method | WithoutQuery<Path>
  ? ParsedJson
  : Path extends WithoutSchema
    ? ParsedJson
    : [RouteAt<Method, Path>] extends [never]
      ? RefusalBody
      : Bodies[RouteAt<Method, Path>];

export type PaymentBody = BodyAt<'GET', '/payments/{id}'>['data'];
export type MethodBody = BodyAt<'GET', '/payment-methods'>[number];
export type NewMethod = BodyAt<'POST', '/payment-methods'>;
export type CustomerBody = BodyAt<'GET', '/customers'>[number];
export type AddressBody = BodyAt<'GET', '/addresses'>[number];
export type SubscriptionBody = BodyAt<'GET', '/subscriptions'>[number];
export type SubscriptionEntry = BodyAt<'GET', '/subscriptions/{id}/timeline'>['data'][number];
export type PaymentEntry = BodyAt<'GET', '/payments/{id}/timeline'>['data'][number];

type DataOf<E> = E extends { data: infer D extends z.ZodRawShape } ? z.output<z.ZodObject<D>> : never;

interface EventPayload {
  readonly event: string;
  readonly provider: string;
  readonly timestamp: string;
  readonly data: Shown<DataOf<(typeof EVENTS)[keyof typeof EVENTS]>>;
}

/** A canonical event from the bus. */
export interface ReceivedEvent extends BusEnvelope {
  readonly detail: {
    readonly id: string;
    readonly organization_id: string;
    readonly user_id: string;
    readonly payload: EventPayload;
  };
}

/** The providers' simulated records. */
export type LedgerBody = Shown<ReturnType<typeof ledgerView>>;
