import { afterEach, describe, expect, test } from 'vitest';
import { FAULT_ACTIONS } from '../../infra/simulator/protocol/faults.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { CREATE_KINDS } from './keyed-creates.ts';

/** Faults of a create's calls to Stripe. A repeat with the same key makes one record in the service and at Stripe. */
const service = withHost({ frozen: true, env: IMPATIENT });
afterEach(() => service.clearFaults());

const ANSWERS = {
  timeout_before: [504, 'PROVIDER_TIMEOUT'],
  timeout_after: [504, 'PROVIDER_TIMEOUT'],
  error_500: [502, 'PROVIDER_ERROR'],
  malformed: [502, 'PROVIDER_ERROR'],
  reset: [503, 'PROVIDER_UNAVAILABLE'],
  rate_limit: [503, 'PROVIDER_UNAVAILABLE'],
} as const;

const CASES = CREATE_KINDS.flatMap((kind) =>
  kind.calls.flatMap((call) => FAULT_ACTIONS.map((action) => ({ ...kind, kind, call, action }))),
);

describe('a create under a key', () => {
  test.each(CASES)('makes one $name when repeated after $action at $call', async ({ kind, call, action }) => {
    const user = await signIn(service);
    const keyed = { ...user.options, idempotencyKey: `${kind.name} ${call} ${action}` };
    const fields = { [kind.field]: keyed.idempotencyKey };
    const create = () => service.post(kind.path, kind.body(fields), keyed);
    // The adapter retries a call that certainly did not happen, so the fault must hit twice.
    await service.fault({ provider: 'provider_a', path: call, action, times: action === 'rate_limit' ? 2 : 1 });
    const [status, code] = ANSWERS[action];
    expect(await create()).toMatchObject({ status, body: { success: false, code } });
    expect(await kind.listed(service, user)).toEqual([]);
    await service.clearFaults();
    await service.advance(kind.blockedSeconds);
    const again = await create();
    expect(again).toMatchObject({ status: 201, body: fields });
    await service.advance(HOUR_SECONDS);
    if (kind.events) expect(await kind.events(service, again.body.id)).toHaveLength(1);
    expect(await kind.listed(service, user)).toEqual([again.body.id]);
    expect(await kind.made(service, again.body)).toBe(1);
    expect((await service.get('/customers', user.options)).body.length).toBeLessThanOrEqual(1);
  });
});
