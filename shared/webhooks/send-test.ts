/** @module Sends test events to the webhook targets. Each test event is marked as a test, and names no real record. */

import { type Caller, isMemberCaller, mayAsMerchant } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { epochSeconds, iso } from '../core/time.ts';
import { deliveryTo } from '../event-log/delivery.ts';
import { type OutboundEvent, rawAliases } from '../event-log/outbound-event.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { type Attempt, type AttemptDeps, logAttempt, postDelivery } from './delivery-attempt.ts';
import { findCanonicalEvent, parseRawEvent, rawSample, SAMPLES } from './event-samples.ts';
import { type LogAccessDeps, requireSender } from './log-access.ts';
import { type Target, wants } from './webhook-targets.ts';

export type SendTestDeps = LogAccessDeps &
  Pick<IdDeps, 'newId'> &
  AttemptDeps & { readonly targets: () => Promise<readonly Target[]> };

export interface TestBody {
  readonly event: string;
  readonly test_data: Readonly<Record<string, unknown>>;
}

interface Tried {
  readonly node: string;
  readonly host: string;
  readonly matched: boolean;
  readonly status: 'success' | 'failed' | 'skipped';
  readonly http_status?: number;
}

/** Sends to every subscribed target, one attempt each. The reply contains the results. */
export const sendTest = async (
  deps: SendTestDeps,
  { caller, body }: ApiRequest<unknown, unknown, TestBody>,
): Promise<Reply> => {
  await requireTestSender(deps, { caller });
  const event = makeTestEvent(
    deps,
    mayAsMerchant(caller, 'webhooks:write') ? body : { ...body, test_data: pickFacts(body.test_data) },
  );
  const owned = {
    ...event,
    organizationId: organizationOf(caller),
    userId: caller.kind === 'session' ? caller.userId : undefined,
  };
  const targets = await Promise.all((await deps.targets()).map((target) => tryTarget(deps, target, owned)));
  const matched = targets.filter((target) => target.matched);
  const delivered = matched.filter(({ status }) => status === 'success').length;
  return {
    data: { event_id: event.id, event: event.name, targets },
    message: `${delivered} of ${matched.length} targets accepted the test event`,
  };
};

/** @throws DomainError unless the caller acts for the merchant, or is owner or admin of the session's organization */
export const requireTestSender = (deps: LogAccessDeps, { caller }: Pick<ApiRequest, 'caller'>): Promise<void> =>
  requireSender(deps, caller, organizationOf(caller));

const organizationOf = (caller: Caller): string | undefined =>
  isMemberCaller(caller) ? caller.organizationId : undefined;

/**
 * Fields that every sender of a test event may set. None of them can hold an id. Only the merchant may set other
 * fields. Otherwise the owner of any organization could make a signed event that names another organization's payment.
 */
const FACTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  amount: (value) => typeof value === 'number',
  currency: (value) => typeof value === 'string' && /^[A-Za-z]{3}$/.test(value),
  status: (value) => isWord(value),
  reason: (value) => isWord(value),
};
const isWord = (value: unknown): boolean => typeof value === 'string' && /^[A-Za-z_]{1,50}$/.test(value);

const pickFacts = (given: TestBody['test_data']): TestBody['test_data'] =>
  Object.fromEntries(Object.entries(FACTS).flatMap(([name, fits]) => (fits(given[name]) ? [[name, given[name]]] : [])));

type TestEvent = OutboundEvent & { readonly content: { readonly body: string } };

const tryTarget = async (deps: SendTestDeps, target: Target, event: TestEvent): Promise<Tried> => {
  const at = { node: target.name, host: new URL(target.url).host };
  if (!wants(target, event)) return { ...at, matched: false, status: 'skipped' };
  const attempt: Attempt = {
    delivery: deliveryTo(target.name, event),
    target,
    body: Buffer.from(event.content.body),
    number: 1,
    messageId: event.id,
    isTest: true,
  };
  const attempted = await postDelivery(deps, attempt);
  await logAttempt(deps.table, attempt, attempted);
  const { outcome, answer } = attempted;
  return {
    ...at,
    matched: true,
    status: outcome === 'delivered' ? 'success' : 'failed',
    ...(answer.kind === 'answered' && { http_status: answer.status }),
  };
};

/** Marks an id as a test id, which no real event has. */
const testId = (id: string): string => id.replace('_', '_test_');

/** The test mark is the first field, and no field of the request overrides it. */
const marked = (fields: Readonly<Record<string, unknown>>) => ({ ...MARK, ...fields, ...MARK });
const MARK = { test: true };

/**
 * Makes a canonical event for canonical nodes, or an inbound event for raw nodes. If a name is both, the canonical
 * event is made.
 * @throws DomainError UNKNOWN_EVENT
 */
const makeTestEvent = ({ newId, now }: SendTestDeps, { event: name, test_data }: TestBody): TestEvent => {
  const id = testId(newId('message'));
  const common = { id, organizationId: undefined, userId: undefined };
  const canonical = findCanonicalEvent(name);
  if (canonical) {
    const data = marked({ ...SAMPLES[canonical], ...test_data });
    const body = { event: name, provider: 'provider_a', timestamp: iso(now()), ...MARK, data };
    return { ...common, name, kind: 'canonical', aliases: [name], provider: 'provider_a', content: contentOf(body) };
  }
  const raw = parseRawEvent(name);
  if (!raw) throw new DomainError('UNKNOWN_EVENT', { details: { event: name } });
  const { provider, type } = raw;
  const object = { ...rawSample(type), ...test_data };
  const body = { id, type, provider, ...MARK, data: marked({ object: marked(object) }), created: epochSeconds(now()) };
  const aliases = rawAliases(provider, type, type);
  return { ...common, name: `${provider}:${type}`, kind: 'raw', aliases, provider, content: contentOf(body) };
};

const contentOf = (body: unknown): { readonly body: string } => ({ body: JSON.stringify(body) });
