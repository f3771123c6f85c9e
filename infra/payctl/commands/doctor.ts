/**
 * @module Checks every part of an installation, without changing anything. A part is ok, failing, or closed with a
 * reason.
 */

import { DescribeContinuousBackupsCommand, DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { TABLE } from '../../../shared/platform/keys.ts';
import type { KnownPayment } from '../../../shared/providers/payment-port.ts';
import type { PaymentProvider } from '../../../shared/providers/provider.ts';
import { areOff } from '../../../shared/webhooks/webhook-targets.ts';
import { whyClosed } from '../../local/control/disabled-parts.ts';
import { KEYS_REFUSED } from '../compare/payment.ts';
import type { Installation } from '../installation/installation.ts';
import { type Check, reportChecks, runCheck } from './checks.ts';
import { readQueueAttributes } from './dead-letters.ts';
import { eventsVersionChecks } from './events-version.ts';
import { identityChecks } from './identity-checks.ts';
import { describeError, type Report } from './report.ts';
import { findDueDisputes, findUnclear, type Unclear } from './unclear.ts';

export const runDoctor = async (installation: Installation): Promise<Report> => {
  const settings: Check = { check: 'settings', state: 'ok', detail: `every setting of ${installation.name} is valid` };
  const checks = [
    settings,
    ...(await tableChecks(installation)),
    ...(await queueChecks(installation)),
    await webhooksCheck(installation),
    ...(await identityChecks(installation)),
    await guestCheck(installation),
    ...(await alarmChecks(installation)),
    ...(await Promise.all(PROVIDER_SLOTS.map((slot) => slotChecks(installation, slot)))).flat(),
    clockCheck(installation),
    ...(await unclearChecks(installation)),
    await disputesCheck(installation),
  ];
  return reportChecks(checks);
};

/** Reports only the settings, because wrong settings prevent all other checks. */
export const reportSettingsMistakes = (mistakes: readonly string[]): Report =>
  reportChecks(mistakes.map((detail) => ({ check: 'settings', state: 'fail', detail })));

const tableChecks = async ({ dynamodb, settings, isLocal }: Installation): Promise<readonly Check[]> => {
  const TableName = settings.TABLE_NAME;
  const shape = runCheck('table', async () => {
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
    const present = new Set(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
    const missing = TABLE.indexes.map(({ name }) => name).filter((name) => !present.has(name));
    if (missing.length > 0) return { check: 'table', state: 'fail', detail: `index ${missing.join(', ')} is missing` };
    if (Table?.LatestStreamArn === undefined) return { check: 'table', state: 'fail', detail: 'it has no stream' };
    const isActive = Table.TableStatus === 'ACTIVE';
    const detail = `${TableName} is ${Table.TableStatus} and has its ${TABLE.indexes.length} indexes and its stream`;
    return { check: 'table', state: isActive ? 'ok' : 'fail', detail };
  });
  if (isLocal) return [await shape];
  const backups = runCheck('backups', async () => {
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

const queueChecks = (installation: Installation): Promise<readonly Check[]> =>
  Promise.all(
    installation.queueUrls.map(({ queue, url, deadLetterUrl }) =>
      runCheck(`queue ${queue}`, async () => {
        const [waiting, dead] = [
          await readQueueAttributes(installation, url),
          await readQueueAttributes(installation, deadLetterUrl),
        ];
        const deadLetters =
          dead.count === 0 ? 'no message is a dead letter' : `${dead.count} dead letters (payctl dlq list)`;
        const detail = `${deadLetters}, ${waiting.count} wait`;
        return { check: `queue ${queue}`, state: dead.count === 0 ? 'ok' : 'fail', detail };
      }),
    ),
  );

const webhooksCheck = (installation: Installation): Promise<Check> =>
  runCheck('outbound webhooks', async () => {
    const { targets, closed, switchesOff } = await installation.outbound();
    const idle = switchesOff.length > 0 ? `; nothing is sent to other URLs, because ${areOff(switchesOff)}` : '';
    return checkOf('outbound webhooks', closed, `events are sent to ${targets.join(', ')}${idle}`);
  });

const guestCheck = (installation: Installation): Promise<Check> =>
  runCheck('guest tokens', async () =>
    checkOf('guest tokens', await installation.whyNoGuestTokens(), 'a signing secret is set'),
  );

const alarmChecks = async ({ alarmSubscriptions }: Installation): Promise<readonly Check[]> => {
  if (!alarmSubscriptions) return [];
  const alarms = runCheck('alarms', async () => {
    const { confirmed, pending } = await alarmSubscriptions();
    if (pending > 0) {
      return { check: 'alarms', state: 'fail', detail: `${pending} subscriptions are not confirmed` };
    }
    const closed = confirmed === 0 ? 'alarms have no recipient: their topic has no subscription' : undefined;
    return checkOf('alarms', closed, `${confirmed} subscriptions confirmed`);
  });
  return [await alarms];
};

const checkOf = (check: string, closed: string | undefined, detail: string): Check =>
  closed === undefined ? { check, state: 'ok', detail } : { check, state: 'closed', detail: closed };

const slotChecks = async (installation: Installation, slot: ProviderSlot): Promise<readonly Check[]> => [
  await providerCheck(installation, slot),
  ...(await eventsVersionChecks(installation, slot)),
  ...simulatedChecks(installation, slot),
];

/** Settings for the keys of the operator's own account at a provider. */
const OWN_KEYS = ['API_KEY', 'CLIENT_SECRET', 'ACCESS_TOKEN', 'PRIVATE_KEY'] as const;

/** The local host's own keys start with this prefix. */
const LOCAL_KEY = /^(sk_test_)?local_/;

/** Reports the operator's own keys in a simulated slot. */
const simulatedChecks = ({ isLocal, settings }: Installation, slot: ProviderSlot): readonly Check[] => {
  const found = settings.slots[slot];
  if (!isLocal || !found.BASE_URL.includes('/_local/providers/')) return [];
  const names = OWN_KEYS.filter((name) => found[name] !== '' && !LOCAL_KEY.test(found[name]));
  if (names.length === 0) return [];
  const variables = names.map((name) => `${slot.toUpperCase()}_${name}`).join(', ');
  return [{ check: `${slot} keys`, state: 'closed', detail: `${variables} is set, but the slot is the simulator` }];
};

const providerCheck = (installation: Installation, slot: ProviderSlot): Promise<Check> =>
  runCheck(slot, async () => {
    const { ADAPTER: adapter } = installation.settings.slots[slot];
    const provider = await installation.deps.providers.find(slot);
    const reported = installation.closed?.find(({ part }) => part === slot)?.reason;
    const closed = installation.closed
      ? reported
      : whyClosed(slot, adapter, { provider, receiver: await installation.receivers.find(slot) });
    if (closed !== undefined) return { check: slot, state: 'closed', detail: closed };
    if (!provider)
      return { check: slot, state: 'fail', detail: `the host has keys of ${adapter}, but this shell has none` };
    const startedAt = performance.now();
    const { kind, reason } = await askForNothing(provider);
    const took = `${Math.round(performance.now() - startedAt)} ms`;
    if (kind === 'unknown' || kind === 'not_done')
      return { check: slot, state: 'fail', detail: `${adapter} cannot be reached: ${reason}` };
    if (KEYS_REFUSED.test(reason)) {
      const whose = installation.isLocal ? ', those of this shell' : '';
      return { check: slot, state: 'fail', detail: `${adapter} refuses our keys${whose}: ${reason}` };
    }
    return currencyCheck(provider, {
      check: slot,
      state: 'ok',
      detail: `${adapter} responds in ${took} and accepts our keys`,
    });
  });

/**
 * If the provider's account accepts only one currency, adds the currency to the result. The check fails if the currency
 * cannot be read, for example because Square's location does not exist or has a currency that the service cannot
 * charge.
 */
const currencyCheck = async (provider: PaymentProvider, answers: Check): Promise<Check> => {
  const only = await provider.onlyCurrency?.();
  if (only === undefined) return answers;
  return only.kind === 'done'
    ? { ...answers, detail: `${answers.detail}; accepts only ${only.value}` }
    : {
        ...answers,
        state: 'fail',
        detail: `the currency of its location cannot be read: ${'reason' in only ? only.reason : only.kind}`,
      };
};

/** Requests an object that does not exist. A provider that reports it as missing is reachable and accepts our keys. */
const askForNothing = async (
  provider: PaymentProvider,
): Promise<{ readonly kind: string; readonly reason: string }> => {
  const outcome = provider.can.payments
    ? await provider.findPayment(NO_SUCH_PAYMENT)
    : await provider.deleteCustomer(NO_SUCH_PAYMENT.intentId);
  return { kind: outcome.kind, reason: 'reason' in outcome ? outcome.reason : '' };
};
const NO_SUCH_PAYMENT: KnownPayment = {
  intentId: 'payctl-doctor',
  attemptRef: undefined,
  method: undefined,
  status: 'created',
};

/** Much less than the five-minute validity of webhook signatures. */
const MAX_SKEW_MS = 60_000;

const clockCheck = ({ datesSeen }: Installation): Check => {
  const skews = datesSeen.map(({ theirs, ours }) => Math.abs(theirs - ours));
  if (skews.length === 0) return { check: 'clock', state: 'closed', detail: 'no response of a provider had a date' };
  const skew = Math.round(Math.min(...skews) / 1_000);
  return skew * 1_000 <= MAX_SKEW_MS
    ? { check: 'clock', state: 'ok', detail: `agrees with the providers’ clocks, ${skew} s off` }
    : { check: 'clock', state: 'fail', detail: `${skew} s off the providers’ clocks` };
};

const MOST_NAMED = 5;

/** Fails if records were found, and names the first ones. */
const waitingCheck = (
  check: string,
  found: readonly string[],
  { well, wrong }: { readonly well: string; readonly wrong: string },
): Check => {
  if (found.length === 0) return { check, state: 'ok', detail: well };
  const more = found.length > MOST_NAMED ? [`and ${found.length - MOST_NAMED} more`] : [];
  return {
    check,
    state: 'fail',
    detail: `${found.length} ${wrong}: ${[...found.slice(0, MOST_NAMED), ...more].join(', ')}`,
  };
};

const UNCLEAR = [
  {
    check: 'payments',
    well: 'no charge has an unknown outcome for over 10 minutes',
    wrong: 'have an unknown outcome for over 10 minutes (payctl reconcile)',
  },
  {
    check: 'creations',
    well: 'no creation is unfinished for over 5 minutes',
    wrong: 'are unfinished for over 5 minutes (payctl reconcile)',
  },
  {
    check: 'refunds',
    well: 'no refund has an unknown outcome for over 10 minutes',
    wrong: 'have an unknown outcome for over 10 minutes (payctl reconcile)',
  },
  {
    check: 'holds',
    well: 'no hold ends within 24 hours',
    wrong: 'are held and end within 24 hours (payctl capture, payctl release)',
  },
] as const satisfies readonly { readonly check: keyof Unclear; readonly well: string; readonly wrong: string }[];

const unclearChecks = async (installation: Installation): Promise<readonly Check[]> => {
  let unclear: Unclear;
  try {
    unclear = await findUnclear(installation);
  } catch (error) {
    return UNCLEAR.map(({ check }) => ({ check, state: 'fail', detail: describeError(error) }));
  }
  const among = unclear.isPartial ? ', among the records due first' : '';
  return UNCLEAR.map(({ check, well, wrong }) =>
    waitingCheck(check, unclear[check], { well: `${well}${among}`, wrong }),
  );
};

const disputesCheck = (installation: Installation): Promise<Check> =>
  runCheck('disputes', async () =>
    waitingCheck('disputes', await findDueDisputes(installation), {
      well: 'no evidence is due within 3 days',
      wrong: 'need evidence at their provider within 3 days',
    }),
  );
