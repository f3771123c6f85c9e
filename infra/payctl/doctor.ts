import { DescribeContinuousBackupsCommand, DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../shared/core/settings.ts';
import type { KnownPayment } from '../../shared/providers/port/payments.ts';
import type { PaymentProvider } from '../../shared/providers/port/provider.ts';
import { TABLE } from '../../shared/table/keys.ts';
import { whyClosed, whyNoBearerTokens } from '../local/control/disabled-parts.ts';
import { attributesOf } from './dead-letters.ts';
import type { Place } from './place.ts';
import { columns, type Report, wordsOf } from './report.ts';

/** What is well, what is not, and what is closed and why. Nothing is changed by it. */
interface Check {
  readonly check: string;
  readonly state: 'ok' | 'closed' | 'fail';
  readonly detail: string;
}

export const doctor = async (place: Place): Promise<Report> => {
  const settings: Check = { check: 'settings', state: 'ok', detail: `of ${place.name}, all parsed` };
  const checks = [
    settings,
    ...(await tableChecks(place)),
    ...(await queueChecks(place)),
    await webhooksCheck(place),
    await identityCheck(place),
    await bearerCheck(place),
    await guestCheck(place),
    ...(await alarmChecks(place)),
    ...(await Promise.all(PROVIDER_SLOTS.map((slot) => providerCheck(place, slot)))),
    clockCheck(place),
  ];
  return reportOf(checks);
};

/** The settings themselves are wrong, so nothing else can be looked at. */
export const doctorOfSettings = (mistakes: readonly string[]): Report =>
  reportOf(mistakes.map((detail) => ({ check: 'settings', state: 'fail', detail })));

const reportOf = (checks: readonly Check[]): Report => {
  const count = (wanted: Check['state']): number => checks.filter(({ state }) => state === wanted).length;
  const [failed, closed] = [count('fail'), count('closed')];
  const verdict = failed > 0 ? `${failed} of ${checks.length} want attention` : 'All that is open is well';
  return {
    json: { healthy: failed === 0, closed, checks },
    lines: [
      ...columns(checks.map(({ check, state, detail }) => [state, check, detail])),
      closed > 0 ? `${verdict}; ${closed} are closed.` : `${failed === 0 ? 'All is well' : verdict}.`,
    ],
    exitCode: failed === 0 ? 0 : 1,
  };
};

const failing = async (check: string, look: () => Promise<Check>): Promise<Check> => {
  try {
    return await look();
  } catch (error) {
    return { check, state: 'fail', detail: wordsOf(error) };
  }
};

const tableChecks = async ({ dynamodb, settings, isLocal }: Place): Promise<readonly Check[]> => {
  const TableName = settings.TABLE_NAME;
  const shape = failing('table', async () => {
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
    const present = new Set(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
    const missing = TABLE.indexes.map(({ name }) => name).filter((name) => !present.has(name));
    if (missing.length > 0) return { check: 'table', state: 'fail', detail: `index ${missing.join(', ')} is missing` };
    if (Table?.LatestStreamArn === undefined) return { check: 'table', state: 'fail', detail: 'it has no stream' };
    const isActive = Table.TableStatus === 'ACTIVE';
    return { check: 'table', state: isActive ? 'ok' : 'fail', detail: `${TableName} is ${Table.TableStatus}` };
  });
  if (isLocal) return [await shape];
  const backups = failing('backups', async () => {
    const { ContinuousBackupsDescription } = await dynamodb.send(new DescribeContinuousBackupsCommand({ TableName }));
    const status = ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
    return {
      check: 'backups',
      state: status === 'ENABLED' ? 'ok' : 'fail',
      detail: `point-in-time recovery is ${status}`,
    };
  });
  return Promise.all([shape, backups]);
};

const queueChecks = (place: Place): Promise<readonly Check[]> =>
  Promise.all(
    place.queueUrls.map(({ queue, url, deadLetterUrl }) =>
      failing(`queue ${queue}`, async () => {
        const [waiting, dead] = [await attributesOf(place, url), await attributesOf(place, deadLetterUrl)];
        const detail = `${waiting.count} wait, ${dead.count} dead letters`;
        return { check: `queue ${queue}`, state: dead.count === 0 ? 'ok' : 'fail', detail };
      }),
    ),
  );

const webhooksCheck = (place: Place): Promise<Check> =>
  failing('outbound webhooks', async () => {
    const { targets, closed } = await place.outbound();
    return checkOf('outbound webhooks', closed, `to ${targets.join(', ')}`);
  });

const guestCheck = (place: Place): Promise<Check> =>
  failing('guest tokens', async () =>
    checkOf('guest tokens', await place.whyNoGuestTokens(), 'there is what signs them'),
  );

const alarmChecks = async ({ alarmSubscriptions }: Place): Promise<readonly Check[]> => {
  if (!alarmSubscriptions) return [];
  const alarms = failing('alarms', async () => {
    const { confirmed, pending } = await alarmSubscriptions();
    if (pending > 0) {
      return { check: 'alarms', state: 'fail', detail: `${pending} who are to hear of them have not confirmed it` };
    }
    const closed = confirmed === 0 ? 'alarms reach nobody: nobody is subscribed to their topic' : undefined;
    return checkOf('alarms', closed, `${confirmed} hear of them`);
  });
  return [await alarms];
};

const checkOf = (check: string, closed: string | undefined, detail: string): Check =>
  closed === undefined ? { check, state: 'ok', detail } : { check, state: 'closed', detail: closed };

const keysSchema = z.object({ keys: z.array(z.unknown()).min(1) });

const bearerCheck = ({ settings }: Place): Promise<Check> =>
  failing('bearer tokens', async () => {
    const closed = whyNoBearerTokens(settings);
    if (closed !== undefined) return { check: 'bearer tokens', state: 'closed', detail: closed };
    const answer = await fetch(settings.IDENTITY_JWKS_URI, { signal: AbortSignal.timeout(WAIT_MS) });
    const { keys } = keysSchema.parse(await answer.json());
    return { check: 'bearer tokens', state: 'ok', detail: `${keys.length} keys verify them` };
  });

const identityCheck = ({ settings }: Place): Promise<Check> =>
  failing('identity service', async () => {
    const { status } = await fetch(`${settings.IDENTITY_URL}/sessions/payctl-doctor`, {
      signal: AbortSignal.timeout(WAIT_MS),
    });
    const answers = status === 404 || status < 300;
    return { check: 'identity service', state: answers ? 'ok' : 'fail', detail: `answers ${status}` };
  });
const WAIT_MS = 5_000;

const providerCheck = (place: Place, slot: ProviderSlot): Promise<Check> =>
  failing(slot, async () => {
    const { ADAPTER: adapter } = place.settings.slots[slot];
    const provider = await place.deps.providers.find(slot);
    const told = place.closed?.find(({ part }) => part === slot)?.reason;
    const closed = place.closed ? told : whyClosed(slot, adapter, provider);
    if (closed !== undefined) return { check: slot, state: 'closed', detail: closed };
    if (!provider)
      return { check: slot, state: 'fail', detail: `keys of ${adapter}, which the host has, are not here` };
    const startedAt = performance.now();
    const { kind, reason } = await asked(provider);
    const took = `${Math.round(performance.now() - startedAt)} ms`;
    if (kind === 'unknown' || kind === 'not_done')
      return { check: slot, state: 'fail', detail: `${adapter} cannot be reached: ${reason}` };
    return NO_ENTRY.test(reason)
      ? {
          check: slot,
          state: 'fail',
          detail: `${adapter} does not take our keys${place.isLocal ? ', those of this shell' : ''}: ${reason}`,
        }
      : { check: slot, state: 'ok', detail: `${adapter} answers, ${took}` };
  });

const NO_ENTRY = /auth|api_key|permission|forbidden|HTTP_40[13]/i;

/** Asks for something that is not there: whoever says so has been reached, and has let us in. */
const asked = async (provider: PaymentProvider): Promise<{ readonly kind: string; readonly reason: string }> => {
  const outcome = provider.can.payments
    ? await provider.findPayment(NOBODYS)
    : await provider.deleteCustomer(NOBODYS.intentId);
  return { kind: outcome.kind, reason: 'reason' in outcome ? outcome.reason : '' };
};
const NOBODYS: KnownPayment = {
  intentId: 'payctl-doctor',
  attemptRef: undefined,
  method: undefined,
  status: 'created',
};

/** Signatures of webhooks are good for five minutes. */
const MAX_SKEW_MS = 60_000;

const clockCheck = ({ datesSeen }: Place): Check => {
  const skews = datesSeen.map(({ theirs, ours }) => Math.abs(theirs - ours));
  if (skews.length === 0) return { check: 'clock', state: 'closed', detail: 'no provider has told the time' };
  const skew = Math.round(Math.min(...skews) / 1_000);
  return {
    check: 'clock',
    state: skew * 1_000 <= MAX_SKEW_MS ? 'ok' : 'fail',
    detail: `${skew} s off the providers’ clocks`,
  };
};
