/**
 * @module Checks an installation after a restore of its table, without changing anything. It reports what was lost and
 * what to do before due work is turned on again.
 */

import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { iso } from '../../../shared/core/time.ts';
import { WITHOUT_OWNER } from '../../../shared/payments/restore-payment.ts';
import { originalOf } from '../../../shared/platform/copied-table.ts';
import { everyDueShard } from '../../../shared/platform/keys.ts';
import type { Item } from '../../../shared/platform/table.ts';
import type { Subject } from '../../../shared/removal/erasure-job.ts';
import { type Check, reportChecks, runCheck } from '../commands/checks.ts';
import { findDrift } from '../commands/drift.ts';
import type { Report } from '../commands/report.ts';
import type { StageWiring } from '../installation/facts.ts';
import type { Installation } from '../installation/installation.ts';
import { findRepeated } from './repeat-erasures.ts';
import { type CheckedTable, checkTable, verdict } from './table-checks.ts';
import { PARTS_OF_DUE_WORK, runningDueWork, wiringChecks } from './wiring-checks.ts';

export interface RestoreCheckOptions {
  /**
   * ISO time. If omitted, the check uses the time of the newest record and fails, because this record may be newer than
   * the restore.
   */
  readonly restoredTo?: string | undefined;
  /** The people erased after that time; undefined if the operator gave no list. */
  readonly erased?: readonly Subject[] | undefined;
}

export const restoreCheck = async (installation: Installation, options: RestoreCheckOptions): Promise<Report> => {
  const { newest, ownerless } = await readStored(installation);
  const restoredTo = options.restoredTo ?? newest ?? iso(installation.now());
  const table = await checkTable(installation);
  const wiring = await installation.wiring?.();
  const drift = await findDrift(installation, { restoredTo });
  const overdue = await countOverdue(installation);
  const { json, lines, exitCode } = reportChecks([
    ...table.checks,
    ...(wiring ? wiringChecks(wiring, inUse(installation, table)) : []),
    recordsCheck(newest, options.restoredTo, installation.now()),
    driftCheck(drift),
    dueWorkCheck(installation, { wiring, overdue, drift, original: await heldFor(installation) }),
    await erasuresCheck(installation, restoredTo, { people: options.erased, ownerless }),
    webhooksCheck(drift, overdue),
  ]);
  const facts = { restored_to: restoredTo, newest_record: newest ?? null, overdue };
  return { json: { ...facts, ...z.looseObject({}).parse(json) }, lines, exitCode };
};

const inUse = ({ settings }: Installation, { streamArn }: CheckedTable) => ({ name: settings.TABLE_NAME, streamArn });

const recordsCheck = (newest: string | undefined, restoredTo: string | undefined, now: number): Check => {
  if (newest === undefined) return { check: 'records', state: 'fail', detail: 'the table has no payment' };
  const seen = `the newest change was at ${newest}`;
  if (restoredTo === undefined) {
    const detail = `${seen}, perhaps after the restore; name the time that the table was restored to with --restored-to`;
    return { check: 'records', state: 'fail', detail };
  }
  const hours = ((now - Date.parse(restoredTo)) / HOUR_MS).toFixed(1);
  return {
    check: 'records',
    state: 'ok',
    detail: `${seen}; changes of the ${hours} hours since ${restoredTo} are lost`,
  };
};
const HOUR_MS = 3_600_000;

const driftView = z.object({
  drifted: z.int(),
  not_compared: z.int(),
  restore: z.object({
    lost: z.int(),
    charged_again: z.int(),
    subscriptions_not_here: z.array(z.unknown()),
    unlisted: z.array(z.object({ provider: z.string() })),
  }),
});
const viewOf = ({ json }: Report) => driftView.parse(json);

const driftMistakes = (drift: Report): readonly string[] => {
  const { drifted, not_compared: unread, restore } = viewOf(drift);
  const differing = drifted - restore.lost - restore.charged_again;
  return [
    ...(restore.lost > 0
      ? [`${restore.lost} payments exist only at the providers (payctl drift --fix --restored-to …)`]
      : []),
    ...(restore.charged_again > 0 ? [`${restore.charged_again} further charges of an already charged payment`] : []),
    ...(differing > 0 ? [`${differing} payments, refunds or disputes differ`] : []),
    ...(restore.subscriptions_not_here.length > 0
      ? [`${restore.subscriptions_not_here.length} provider-billed subscriptions have no record (payctl cancel-lost)`]
      : []),
    ...(unread > 0 ? [`${unread} payments could not be compared`] : []),
    ...restore.unlisted.map(({ provider }) => `${provider} cannot be listed`),
  ];
};

const driftCheck = (drift: Report): Check =>
  verdict('providers', driftMistakes(drift), 'every payment agrees with its provider');

interface DueWork {
  readonly wiring: StageWiring | undefined;
  readonly overdue: number;
  readonly drift: Report;
  /** The original table's name if this table is a copy with held due work. */
  readonly original: string | undefined;
}

/**
 * Due work must be off or held while the table differs from the providers, because due work may charge a renewal twice.
 */
const dueWorkCheck = ({ settings }: Installation, { wiring, overdue, drift, original }: DueWork): Check => {
  const running = wiring ? runningDueWork(wiring) : settings.DUE_WORK === 'on' ? ['DUE_WORK=on'] : [];
  const records = `${overdue} records are overdue`;
  if (running.length === 0)
    return { check: 'due work', state: 'ok', detail: `off; ${records}, and wait until it is on` };
  if (original !== undefined) {
    const detail = `held, because the table is a copy of ${original}; ${records}, and wait for payctl restore-done`;
    return { check: 'due work', state: 'ok', detail };
  }
  return verdict('due work', dueWorkMistakes(running, { wiring, drift }), `on; ${records}`);
};

const dueWorkMistakes = (
  running: readonly string[],
  { wiring, drift }: Pick<DueWork, 'wiring' | 'drift'>,
): readonly string[] => {
  const named = running.join(', ');
  if (driftMistakes(drift).length > 0) return [`on (${named}), so renewals may be charged twice; stop it`];
  return wiring && running.length < PARTS_OF_DUE_WORK
    ? [`only ${named} is on, so nothing is charged or looked up; deploy again`]
    : [];
};

const heldFor = ({ deps, settings }: Installation) => originalOf({ table: deps.table, tableName: settings.TABLE_NAME });

const countOverdue = async ({ deps }: Installation): Promise<number> => {
  let count = 0;
  for (const partition of everyDueShard) {
    let after: Item | undefined;
    do {
      const page = await deps.table.countIndex({ index: 'due', partition, to: iso(deps.now()), after });
      count += page.matching;
      after = page.next;
    } while (after);
  }
  return count;
};

interface Erased {
  /** Undefined if the operator gave no list. */
  readonly people: readonly Subject[] | undefined;
  /** Number of payments restored without an owner. */
  readonly ownerless: number;
}

/** Needs the operator's list of people, because a restored table lacks the erasure jobs of the lost period. */
const erasuresCheck = (installation: Installation, restoredTo: string, { people, ownerless }: Erased): Promise<Check> =>
  runCheck('erasures', async () => {
    if (people === undefined) {
      const detail =
        'name the people who were erased since then with --erased <file> (an empty file if there were none)';
      return { check: 'erasures', state: 'fail', detail };
    }
    const jobs = await Promise.all(people.map((person) => findRepeated(installation, restoredTo, person)));
    const missing = jobs.filter((job) => job === undefined).length;
    const done = jobs.filter((job) => job?.status === 'done').length;
    const unreached =
      ownerless > 0 ? `; no erasure reaches the ${ownerless} payments restored without an owner (payctl orphans)` : '';
    return verdict(
      'erasures',
      missing > 0 ? [`${missing} of ${people.length} are not requested again (payctl repeat-erasures)`] : [],
      `all ${people.length} are requested again, ${done} of them done${unreached}`,
    );
  });

const webhooksCheck = (drift: Report, overdue: number): Check => {
  const { drifted, restore } = viewOf(drift);
  const again = drifted - restore.lost - restore.charged_again;
  const detail = `drift --fix sends up to ${again} webhooks, and those of refunds of lost payments; due work sends those of up to ${overdue} records; some may be repeats`;
  return { check: 'webhooks', state: 'ok', detail };
};

interface Stored {
  /** Time of the newest change of a payment or subscription; undefined without changes. */
  readonly newest: string | undefined;
  /** Number of payments restored without an owner. */
  readonly ownerless: number;
}

const readStored = async ({ documents, settings }: Installation): Promise<Stored> => {
  let newest: string | undefined;
  let ownerless = 0;
  let after: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await documents.send(
      new ScanCommand({
        TableName: settings.TABLE_NAME,
        FilterExpression: '#sk = :payment OR #sk = :subscription',
        ExpressionAttributeNames: { '#sk': 'sk' },
        ExpressionAttributeValues: { ':payment': 'PAY', ':subscription': 'SUB' },
        ...(after && { ExclusiveStartKey: after }),
      }),
    );
    for (const item of Items) {
      const { updatedAt, f, anomaly } = changedSchema.parse(item);
      const at = updatedAt ?? f?.u;
      if (at !== undefined && (newest === undefined || at > newest)) newest = at;
      if (anomaly === WITHOUT_OWNER) ownerless += 1;
    }
    after = LastEvaluatedKey;
  } while (after);
  return { newest, ownerless };
};

const changedSchema = z.object({
  updatedAt: z.string().optional(),
  f: z.object({ u: z.string().optional() }).optional(),
  anomaly: z.string().optional(),
});
