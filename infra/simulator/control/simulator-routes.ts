/** @module The simulator's control routes, for tests and demonstrations. Real providers have no such routes. */

import { faultRule } from '../protocol/faults.ts';
import { webhookMode } from '../protocol/outbox.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';
import { customerPage, customerStep } from './customer-step.ts';
import { changeCustomerByHand } from './customers.ts';
import {
  changeBalance,
  changeMethodByHand,
  changeSubscriptionByHand,
  setDrafts,
  setEventsVersion,
  setRetries,
  stepInvoice,
} from './dashboard.ts';
import { addForeign } from './foreign.ts';
import { captureByHand, releaseByHand } from './holds.ts';
import { ledgerView, type MinorUnits } from './ledger-view.ts';
import { changeDisputeByHand, makeRefund, raiseDispute, settleRefundByHand } from './money-back.ts';
import { decidePendingCapture } from './pending-captures.ts';
import { sendEvent, sentEvent } from './sent-events.ts';

type Route = readonly [
  method: 'GET' | 'POST' | 'DELETE',
  path: RegExp,
  run: (parts: ControlParts, call: ControlCall) => Response | Promise<Response>,
];

const json = (status: number, body: unknown): Response => Response.json(body, { status });
const done = (): Response => new Response(null, { status: 204 });

const ROUTES: readonly Route[] = [
  [
    'GET',
    /^\/ledger$/,
    (parts, { url }) =>
      json(
        200,
        ledgerView(parts.units.documents, minorUnitsBy(parts), url.searchParams.get('payment_id') ?? undefined),
      ),
  ],
  ['GET', /^\/requests$/, ({ journal }) => json(200, journal.list())],
  [
    'DELETE',
    /^\/requests$/,
    ({ journal }) => {
      journal.clear();
      return done();
    },
  ],
  ['POST', /^\/events$/, async (parts, { body }) => json(200, await sendEvent(parts, parsed(sentEvent, body)))],
  ['GET', /^\/(?:payments|payment-methods)\/([^/]+)\/authenticate$/, (parts, call) => customerPage(parts, call)],
  ['POST', /^\/(?:payments|payment-methods)\/([^/]+)\/authenticate$/, (parts, call) => customerStep(parts, call)],
  ['POST', /^\/payments\/([^/]+)\/refunds$/, (parts, call) => makeRefund(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/payments\/([^/]+)\/captures$/, (parts, call) => captureByHand(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/payments\/([^/]+)\/release$/, (parts, call) => releaseByHand(parts, call, minorUnitsBy(parts))],
  [
    'POST',
    /^\/payments\/([^/]+)\/pending-capture$/,
    (parts, call) => decidePendingCapture(parts, call, minorUnitsBy(parts)),
  ],
  ['POST', /^\/refunds\/([^/]+)$/, (parts, call) => settleRefundByHand(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/payments\/([^/]+)\/disputes$/, (parts, call) => raiseDispute(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/disputes\/([^/]+)$/, (parts, call) => changeDisputeByHand(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/foreign$/, (parts, call) => addForeign(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/customers\/([^/]+)$/, (parts, call) => changeCustomerByHand(parts, call)],
  ['GET', /^\/webhooks$/, ({ outbox }) => json(200, { ...outbox.setting(), events: outbox.counts() })],
  [
    'POST',
    /^\/webhooks$/,
    ({ outbox }, { body }) => {
      outbox.use(parsed(webhookMode, body));
      return json(200, outbox.setting());
    },
  ],
  ['POST', /^\/webhooks\/resend$/, ({ outbox }) => json(200, { resent: outbox.resend() })],
  ['POST', /^\/events-version$/, (parts, call) => setEventsVersion(parts, call)],
  ['POST', /^\/retries$/, (parts, call) => setRetries(parts, call)],
  ['POST', /^\/drafts$/, (parts, call) => setDrafts(parts, call)],
  ['POST', /^\/subscriptions\/([^/]+)$/, (parts, call) => changeSubscriptionByHand(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/invoices\/([^/]+)$/, (parts, call) => stepInvoice(parts, call, minorUnitsBy(parts))],
  ['POST', /^\/customers\/([^/]+)\/balance$/, (parts, call) => changeBalance(parts, call)],
  ['POST', /^\/payment-methods\/([^/]+)$/, (parts, call) => changeMethodByHand(parts, call)],
  ['GET', /^\/faults$/, ({ faults }) => json(200, faults.list())],
  ['POST', /^\/faults$/, ({ faults }, { body }) => json(201, faults.add(parsed(faultRule, body)))],
  [
    'DELETE',
    /^\/faults$/,
    ({ faults }) => {
      faults.clear();
      return done();
    },
  ],
];

/** Converts by the table of the slot's vendor. Without a vendor, amounts stay unchanged. */
const minorUnitsBy =
  ({ options, vendors }: ControlParts): MinorUnits =>
  ({ provider, amount, currency }) => {
    const vendor = vendors.find(({ adapter }) => adapter === options.slots[provider].adapter);
    return vendor?.minorUnits(amount, currency) ?? amount;
  };

export const answerControl = async (parts: ControlParts, request: Request): Promise<Response> => {
  const url = new URL(request.url);
  const known = ROUTES.filter(([, path]) => path.test(url.pathname));
  const route = known.find(([method]) => method === request.method);
  if (!route) return json(known.length > 0 ? 405 : 404, { error: `There is no ${request.method} ${url.pathname}` });
  try {
    const id = decodeURIComponent(route[1].exec(url.pathname)?.[1] ?? '');
    const fromPage = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') ?? false;
    return await route[2](parts, { url, id, body: await bodyOf(request, fromPage), fromPage });
  } catch (error) {
    if (error instanceof ControlError) return json(error.status, { error: error.message });
    if (error instanceof URIError) return json(400, { error: 'the path is not valid percent-encoding' });
    throw error;
  }
};

const bodyOf = async (request: Request, fromPage: boolean): Promise<unknown> => {
  const text = await request.text();
  if (fromPage) return Object.fromEntries(new URLSearchParams(text));
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlError(400, 'The body is not JSON');
  }
};
