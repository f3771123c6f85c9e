import * as z from 'zod';
import type { LedgerMethod, LedgerSetup } from '../../ledger/documents.ts';
import { attemptSetup } from '../../ledger/setups.ts';
import { browserView, clientSecretOf, setupView } from '../views/intent-views.ts';
import { stripeMethodView } from '../views/payment-views.ts';
import {
  declineFields,
  invalidStripeRequest,
  missingReturnUrl,
  refusedOperation,
  stripeError,
  stripeNotFound,
} from '../wire/errors.ts';
import { checkUsable, findMethod, findStripeCustomer, methodData, methodFromData } from '../wire/method-data.ts';
import {
  anything,
  choice,
  clearable,
  createdRange,
  expand,
  flag,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  text,
} from '../wire/parameters.ts';
import {
  listPage,
  type StripeObject,
  type StripeReply,
  type StripeRequest,
  type StripeRoute,
} from '../wire/request.ts';

const common = {
  payment_method: text().optional(),
  payment_method_data: methodData.optional(),
  payment_method_options: anything.optional(),
  mandate_data: anything.optional(),
  return_url: text().optional(),
  use_stripe_sdk: flag.optional(),
  expand: expand.optional(),
};
const automaticMethods = z.strictObject({ enabled: flag, allow_redirects: choice(['always', 'never']).optional() });
const createFields = z.strictObject({
  ...common,
  automatic_payment_methods: automaticMethods.optional(),
  confirm: flag.optional(),
  customer: text().optional(),
  description: clearable(1_000).optional(),
  metadata: metadata.optional(),
  usage: choice(['off_session', 'on_session']).optional(),
});
const confirmFields = z.strictObject({ ...common, client_secret: text().optional() });
type ConfirmFields = z.output<typeof confirmFields>;
const cancelFields = z.strictObject({
  cancellation_reason: choice(['abandoned', 'duplicate', 'requested_by_customer']).optional(),
  expand: expand.optional(),
});

const PATH = '/v1/setup_intents';
const OPEN: readonly LedgerSetup['status'][] = ['requires_payment_method', 'requires_confirmation', 'requires_action'];

export const setupIntentRoutes: readonly StripeRoute[] = [
  { method: 'POST', path: PATH, run: (request) => create(request) },
  { method: 'GET', path: PATH, run: (request) => ({ object: list(request) }) },
  { method: 'GET', path: `${PATH}/:id`, browser: true, run: (request) => read(request) },
  { method: 'POST', path: `${PATH}/:id/confirm`, browser: true, run: (request) => confirm(request) },
  { method: 'POST', path: `${PATH}/:id/cancel`, run: (request) => cancel(request) },
];

const create = (request: StripeRequest): StripeReply => {
  const { call, unit } = request;
  const sent = readParameters(call, createFields);
  if (sent.confirm !== true) refuseWithoutConfirm(sent);
  const customerId = sent.customer === undefined ? null : findStripeCustomer(unit, sent.customer, 'customer').id;
  const method = methodOf(request, sent);
  if (method) checkUsable(method, customerId);
  const setup = unit.documents.setups.put({
    id: unit.newId('setup'),
    provider: unit.slot,
    metadata: mergeMetadata({}, sent.metadata),
    wire: {
      ...(sent.automatic_payment_methods && {
        automatic_payment_methods: { allow_redirects: 'always', ...sent.automatic_payment_methods },
      }),
    },
    createdAt: unit.at,
    status: method ? 'requires_confirmation' : 'requires_payment_method',
    usage: sent.usage ?? 'off_session',
    description: sent.description ?? null,
    customerId,
    methodId: method?.id ?? null,
    failure: null,
    returnUrl: null,
    cancellationReason: null,
  });
  unit.announce({ kind: 'setup.created', setup });
  if (sent.confirm !== true) return { object: setupView(setup, unit) };
  return attempt(request, setup, { ...sent, payment_method: undefined, payment_method_data: undefined });
};

/** Refuses fields of the confirmation without `confirm`, because they would have no effect. */
const refuseWithoutConfirm = (sent: z.output<typeof createFields>): void => {
  for (const param of ['return_url', 'mandate_data'] as const) {
    if (sent[param] === undefined) continue;
    throw invalidStripeRequest({
      message: `You can only pass \`${param}\` when creating a SetupIntent if \`confirm\` is set to true.`,
      param,
    });
  }
};

const automaticWire = z.object({ enabled: z.boolean(), allow_redirects: z.string() });

/**
 * Since October 2023, Stripe requires a return URL if automatic payment methods allow redirects. Stripe.js in the
 * browser needs no return URL.
 */
const requireReturnUrl = ({ caller }: StripeRequest, setup: LedgerSetup, sent: ConfirmFields): void => {
  const automatic = automaticWire.safeParse(setup.wire['automatic_payment_methods']).data;
  if (!automatic?.enabled || automatic.allow_redirects === 'never' || setup.returnUrl !== null) return;
  if (sent.use_stripe_sdk === true || caller.kind === 'browser') return;
  throw missingReturnUrl('SetupIntent');
};

const methodOf = ({ unit }: StripeRequest, sent: ConfirmFields): LedgerMethod | undefined => {
  if (sent.payment_method_data !== undefined) return methodFromData(unit, sent.payment_method_data);
  return sent.payment_method === undefined ? undefined : findMethod(unit, sent.payment_method, 'payment_method');
};

const find = ({ unit, id, caller }: StripeRequest, clientSecret: string | undefined): LedgerSetup => {
  const setup = unit.documents.setups.get(unit.slot, id);
  if (!setup) throw stripeNotFound('setupintent', id, 'intent');
  if (caller.kind === 'adapter' && clientSecret === undefined) return setup;
  if (clientSecret === clientSecretOf(unit, setup.id)) return setup;
  throw invalidStripeRequest({
    message: 'The client_secret provided does not match the client_secret associated with the SetupIntent.',
    param: 'client_secret',
  });
};

const read = (request: StripeRequest): StripeReply => {
  const schema = z.strictObject({ client_secret: text().optional(), expand: expand.optional() });
  const { client_secret: secret } = readParameters(request.call, schema);
  return { object: viewFor(request, find(request, secret)) };
};

const listFields = z.strictObject({
  ...page,
  created: createdRange.optional(),
  customer: text().optional(),
  payment_method: text().optional(),
});

const list = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const sent = readParameters(call, listFields);
  const { payment_method: methodId } = sent;
  return listPage(request, sent, {
    collection: unit.documents.setups,
    view: (setup) => setupView(setup, unit),
    holder: sent.customer,
    wanted: methodId === undefined ? undefined : (setup) => setup.methodId === methodId,
    kind: 'setupintent',
  });
};

const confirm = (request: StripeRequest): StripeReply => {
  const sent = readParameters(request.call, confirmFields);
  const setup = find(request, sent.client_secret);
  if (!OPEN.includes(setup.status)) throw unexpectedState(request, setup, 'confirm');
  return attempt(request, setup, sent);
};

const attempt = (request: StripeRequest, setup: LedgerSetup, sent: ConfirmFields): StripeReply => {
  const { unit } = request;
  const method = methodOf(request, sent) ?? unit.documents.methods.get(unit.slot, setup.methodId ?? '');
  if (!method) throw unexpectedState(request, setup, 'confirm');
  checkUsable(method, setup.customerId);
  const ready = { ...setup, returnUrl: sent.return_url ?? setup.returnUrl };
  requireReturnUrl(request, ready, sent);
  const { setup: after, declined } = attemptSetup(unit, ready, method);
  if (!declined) return { object: viewFor(request, after) };
  const error = {
    ...declineFields(declined.reason),
    payment_method: stripeMethodView(method),
    setup_intent: viewFor(request, after),
  };
  return { answer: stripeError(402, error, true) };
};

const cancel = (request: StripeRequest): StripeReply => {
  const { call, unit } = request;
  const sent = readParameters(call, cancelFields);
  const setup = find(request, undefined);
  if (!OPEN.includes(setup.status)) throw unexpectedState(request, setup, 'cancel');
  const canceled = unit.documents.setups.put({
    ...setup,
    status: 'canceled',
    cancellationReason: sent.cancellation_reason ?? null,
  });
  unit.announce({ kind: 'setup.canceled', setup: canceled });
  return { object: setupView(canceled, unit) };
};

const viewFor = ({ caller, unit }: StripeRequest, setup: LedgerSetup): StripeObject =>
  caller.kind === 'browser' ? browserView(setupView(setup, unit)) : setupView(setup, unit);

const unexpectedState = ({ unit }: StripeRequest, setup: LedgerSetup, action: 'confirm' | 'cancel') =>
  refusedOperation({
    code: 'setup_intent_unexpected_state',
    message:
      setup.status === 'requires_payment_method'
        ? "You cannot confirm this SetupIntent because it's missing a payment method."
        : `You cannot ${action} this SetupIntent because it has a status of ${setup.status}.`,
    setup_intent: setupView(setup, unit),
  });
