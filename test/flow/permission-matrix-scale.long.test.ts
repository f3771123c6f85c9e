/**
 * @module The right to use a payment method. Every use in the matrix is compared with the provider's charges and with
 * an oracle that states the usage rule without the service's code. Every use is tried at all three providers.
 */

import { beforeAll, describe, expect, test } from 'vitest';
import { canonicalJson } from '../../shared/http/idempotency.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import { OWN_BILLING } from './subscribers.ts';
import { type ActionContext, type PreparedUse, RUN, TRIAL_DAYS, writeRowsFromBefore } from './use/actions.ts';
import {
  ACTIONS,
  type ActionName,
  ALL_USES,
  CELLS,
  cellName,
  HOLDERS,
  LEFT_OUT,
  NAMINGS,
  PROVIDERS,
  USE_CALLERS,
  USES,
  type UseCell,
} from './use/cells.ts';
import { type Taken, takenSince } from './use/charges.ts';
import { createUseFixtures } from './use/fixtures.ts';
import { expectedOf } from './use/oracle.ts';

const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...PATIENT } });
const LEAST_USES = 1_000;
const AT_ONCE = 8;
const SETUP_MS = 600_000;

let prepared: readonly PreparedUse[] = [];

const inTurns = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
};

/** Cells with a stored method run first, before the deletion of methods and the removal of the former member. */
const isStored = ({ naming }: UseCell): boolean => naming === 'stored';
/** Cells that need the end of a period or trial, because their requests follow a clock change. */
const isOfPeriod = ({ action }: UseCell): boolean => ['change method', 'resume', 'reactivate'].includes(action);

beforeAll(async () => {
  const context: ActionContext = { service, fixtures: await createUseFixtures(service), fromBefore: [] };
  const prepare = (cell: UseCell): Promise<PreparedUse> => RUN[cell.action](context, cell);
  const subscribed = await inTurns(CELLS.filter(isOfPeriod), prepare);
  await service.advance(TRIAL_DAYS * DAY_SECONDS + HOUR_SECONDS);
  await context.fixtures.meetGuests();
  const rest = CELLS.filter((cell) => !isOfPeriod(cell));
  const stored = await inTurns(rest.filter(isStored), prepare);
  await writeRowsFromBefore(context);
  await inTurns(CELLS, context.fixtures.methodOf);
  await context.fixtures.end();
  const named = await inTurns(
    rest.filter((cell) => !isStored(cell)),
    prepare,
  );
  await service.settle();
  prepared = [...subscribed, ...stored, ...named];
}, SETUP_MS);

const ofAction = (action: ActionName): readonly PreparedUse[] => prepared.filter(({ cell }) => cell.action === action);
const isRefused = ({ cell }: PreparedUse): boolean => expectedOf(cell).kind === 'refused';
const isRefusedBy =
  (whom: 'service' | 'provider') =>
  ({ cell }: PreparedUse): boolean => {
    const expected = expectedOf(cell);
    return expected.kind === 'refused' && expected.by === whom;
  };

const shown = ({ status, body }: TestAnswer): string => `${status} ${body?.code ?? body?.status ?? ''}`.trim();

/** The unexpected response of a cell that must be refused; undefined if the response is correct. */
const wrongRefusal = async ({ cell, send }: PreparedUse): Promise<string | undefined> => {
  const expected = expectedOf(cell);
  const answers = (await send()).map(shown);
  const wanted: readonly string[] = expected.kind === 'refused' ? expected.answers : [];
  if (answers.every((answer) => wanted.includes(answer))) return undefined;
  return `${cellName(cell)}: ${answers.join(', then ')}; not ${wanted.join(' or ')}`;
};

const SUCCESS: Readonly<Record<ActionName, readonly string[]>> = {
  'create and confirm': ['201 created', '200 succeeded'],
  'update and confirm': ['200 created', '200 succeeded'],
  'confirm with': ['200 succeeded'],
  save: ['200'],
  subscribe: ['201 active'],
  'change method': ['200 active'],
  resume: ['200 active'],
  reactivate: ['200 active'],
};

const wrongSuccess = async ({ cell, method, send }: PreparedUse): Promise<string | undefined> => {
  const answers = await send();
  const wanted = SUCCESS[cell.action];
  const isRight = canonicalJson(answers.map(shown)) === canonicalJson(wanted);
  if (isRight && (cell.action !== 'save' || answers[0]?.body.id === (await method()).id)) return undefined;
  return `${cellName(cell)}: ${answers.map(shown).join(', then ')}; not ${wanted.join(', then ')}`;
};

const WITHOUT_MEANING = /^(RATE|LOG|DLV|IDEM|COUNT)#/;
const tableNow = async (): Promise<string[]> =>
  (await itemsOf(service)).filter(({ pk }) => !WITHOUT_MEANING.test(String(pk))).map(canonicalJson);

/** Provider calls that change something. */
const changingCalls = async (): Promise<string[]> =>
  (await service.providerRequests())
    .filter(({ method, path }) => method !== 'GET' && !path.endsWith('/oauth2/token'))
    .map(({ provider, method, path }) => `${provider} ${method} ${path}`);

const present = (lines: readonly (string | undefined)[]): string[] => lines.filter((line) => line !== undefined);
const asTaken = ({ amount, method }: Pick<Taken, 'amount' | 'method'>): string => `${amount} ${method}`;

describe('the usage matrix', () => {
  test('covers every caller, holder, naming and provider, and explains each omission', () => {
    expect(USES.length).toBeGreaterThanOrEqual(LEAST_USES);
    for (const action of ACTIONS) {
      const asked = CELLS.filter((cell) => cell.action === action);
      expect([...new Set(asked.map(({ caller }) => caller))]).toEqual([...USE_CALLERS]);
      expect([...new Set(asked.map(({ provider }) => provider))].sort()).toEqual([...PROVIDERS]);
    }
    expect(new Set(CELLS.map(({ holder }) => holder)).size).toBe(HOLDERS.length);
    expect(new Set(CELLS.map(({ naming }) => naming)).size).toBe(NAMINGS.length);
    for (const [reason, isLeftOut] of Object.entries(LEFT_OUT)) {
      expect({ reason, leavesOut: ALL_USES.some(isLeftOut) }).toEqual({ reason, leavesOut: true });
    }
  });

  test.each(ACTIONS)(
    'refuses every forbidden use without a change or charge: %s',
    async (action) => {
      const refused = ofAction(action).filter(isRefusedBy('service'));
      await service.settle();
      const [before, known] = [await tableNow(), await takenSince(service)];
      await service.clearProviderRequests();
      const wrong = await inTurns(refused, wrongRefusal);
      await service.settle();
      const taken = await takenSince(service, new Set(known.map(({ id }) => id)));
      const after = new Set(await tableNow());
      expect(present(wrong)).toEqual([]);
      expect(taken).toEqual([]);
      expect(await changingCalls()).toEqual([]);
      expect(before.filter((row) => !after.has(row))).toEqual([]);
      expect(after.size).toBe(before.length);
    },
    SETUP_MS,
  );

  test('charges nothing if the method was removed only at the provider', async () => {
    const known = await takenSince(service);
    const wrong: (string | undefined)[] = [];
    // One after the other, because a payment refuses a second change during a provider call.
    for (const one of prepared.filter(isRefusedBy('provider'))) wrong.push(await wrongRefusal(one));
    await service.settle();
    expect(present(wrong)).toEqual([]);
    expect(await takenSince(service)).toHaveLength(known.length);
  });

  test.each(ACTIONS)(
    'charges the named method once for every permitted use: %s',
    async (action) => {
      const allowed = ofAction(action).filter((one) => !isRefused(one));
      await service.settle();
      const known = await takenSince(service);
      const wrong = await inTurns(allowed, wrongSuccess);
      await service.settle();
      const taken = await takenSince(service, new Set(known.map(({ id }) => id)));
      const charged = allowed.filter(({ cell }) => expectedOf(cell).kind === 'charged');
      const due = await Promise.all(
        charged.map(async ({ amount, method }) => asTaken({ amount, method: (await method()).providerMethodId })),
      );
      expect(present(wrong)).toEqual([]);
      expect(taken.map(asTaken).sort()).toEqual(due.sort());
    },
    SETUP_MS,
  );
});
