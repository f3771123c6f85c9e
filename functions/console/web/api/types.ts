/**
 * @module The API types of the console, from the generated client that `npm run check` writes first. Import types keep
 * Biome from reading the generated file, which exceeds Biome's size limit.
 */

type operations = import('../../../../dist/client/index.d.ts').operations;
export type paths = import('../../../../dist/client/index.d.ts').paths;
export type PaymentsClient = import('../../../../dist/client/index.d.ts').PaymentsClient;

type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;
type Answer<Id extends keyof operations> = operations[Id]['responses'] extends { 200: infer Response }
  ? Json<Response>
  : never;
type Data<Id extends keyof operations> = Answer<Id> extends { data?: infer Body } ? NonNullable<Body> : never;
type Row<List> = List extends readonly (infer One)[] ? One : never;

/** The payer is named only in the merchant's lists. */
export type Payers = Partial<Pick<Row<Data<'admin.list-payments'>>, 'user_email' | 'organization_name'>>;
export type Payment = Row<Data<'payments.list'>> & Payers;
export type PaymentStatus = Payment['status'];
export type TimelineEntry = Row<Data<'payments.timeline'>>;
export type MethodDetails = NonNullable<Payment['payment_method_details']>;
export type Decline = NonNullable<Payment['decline']>;
export type Settlement = NonNullable<Payment['settlement']>;
export type Refund = Row<Answer<'refunds.list-of-payment'>> & Payers;
export type Dispute = Row<Answer<'disputes.list-of-payment'>> & Payers;
export type PaymentMethod = Answer<'payment-methods.get'>;
export type WebhookLog = Answer<'webhooks.get-log'>;
export type Organization = Row<Data<'organizations.list'>>;
export type Me = Data<'api.me'>;
/** A scope for merchant actions, which covers the records of every owner. */
export type Scope = Row<Me['scopes']>;
export type ServiceKey = Row<Data<'admin.list-keys'>>;
export type KeyWithSecret = Data<'admin.rotate-key'>;
export type PaymentLink = Row<Data<'payment-links.list'>>;
export type ProviderConfig = Data<'api.config'>['providers'][number];
export type Subscription = Row<Answer<'subscriptions.list'>> & Payers;
export type SearchHit = Row<Data<'admin.search'>>;
export type SearchKind = SearchHit['kind'];
export type SubscriptionStatus = Subscription['status'];
export type PlanPreview = Answer<'subscriptions.preview-change'>;
export type SubscriptionTimelineEntry = Row<Data<'subscriptions.timeline'>>;
export type Customer = Row<Answer<'customers.list'>>;
export type SummaryRow = Row<Data<'payments.summary'>> & Pick<Row<Data<'admin.summary'>>, 'new_payers' | 'settlements'>;
type SummaryMeta = NonNullable<Answer<'admin.summary'>['meta']>;
export type SummaryTotal = Row<SummaryMeta['totals']>;
export type RecurringRow = Row<NonNullable<SummaryMeta['subscriptions']>>;
export type Product = Row<Data<'products.list'>>;
export type TestResult = Data<'webhooks.send-test'>;
