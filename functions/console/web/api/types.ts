/**
 * @module The API types that the console uses, all from the generated client, which `npm run check` writes first.
 * Import types keep Biome from reading the generated file, which exceeds its size limit.
 */

type operations = import('../../../../dist/client/schema.d.ts').operations;
type ServedPaths = import('../../../../dist/client/schema.d.ts').paths;
export type paths = ServedPaths & EverySubscription;

type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;
type Answer<Id extends keyof operations> = operations[Id]['responses'] extends { 200: infer Response }
  ? Json<Response>
  : never;
type Data<Id extends keyof operations> = Answer<Id> extends { data?: infer Body } ? NonNullable<Body> : never;
type Row<List> = List extends readonly (infer One)[] ? One : never;

export type Payment = Row<Data<'admin.list-payments'>>;
export type PaymentStatus = Payment['status'];
export type TimelineEntry = Row<Data<'payments.timeline'>>;
export type Refund = Row<Answer<'refunds.list-of-payment'>>;
export type Dispute = Row<Answer<'disputes.list-of-payment'>>;
export type PaymentMethod = Answer<'payment-methods.get'>;
export type WebhookLog = Answer<'webhooks.get-log'>;
export type Organization = Row<Data<'organizations.list'>>;
export type ProviderConfig = Data<'api.config'>['providers'][number];
export type Subscription = Row<Answer<'subscriptions.list'>>;
export type SubscriptionStatus = Subscription['status'];
export type SubscriptionTimelineEntry = Row<Data<'subscriptions.timeline'>>;
export type Customer = Row<Answer<'customers.list'>>;
export type SummaryRow = Row<Data<'payments.summary'>>;
export type TestResult = Data<'webhooks.send-test'>;

/** The list of the subscriptions of all owners, as platform admins read it. */
interface EverySubscription {
  readonly '/admin/subscriptions': {
    readonly get: {
      readonly parameters: {
        readonly query?: {
          readonly status?: SubscriptionStatus | undefined;
          readonly provider_id?: ProviderConfig['provider_id'] | undefined;
          readonly user_id?: string | undefined;
          readonly organization_id?: string | undefined;
          readonly from?: string | undefined;
          readonly to?: string | undefined;
          readonly limit?: number | undefined;
          readonly cursor?: string | undefined;
        };
      };
      readonly responses: {
        readonly 200: {
          readonly headers: Readonly<Record<string, unknown>>;
          readonly content: {
            readonly 'application/json': {
              readonly data: Subscription[];
              readonly meta: Readonly<Record<string, unknown>>;
            };
          };
        };
      };
    };
  };
}
