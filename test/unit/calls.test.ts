import { describe, expect, test } from 'vitest';
import type { Applied, CallKind, CallResult, EndedCall, LookedUp } from '../../shared/calls/call-kind.ts';
import { OVER } from '../../shared/calls/call-kind.ts';
import { LOOKS_AFTER_MS, nextLook, RESEND_WITHIN_MS } from '../../shared/calls/call-times.ts';
import { requireFree } from '../../shared/calls/exclusions.ts';
import { lookUpCall, resendCall } from '../../shared/calls/look-up.ts';
import { makeCall } from '../../shared/calls/run-call.ts';
import { runCreation } from '../../shared/calls/run-creation.ts';
import { DomainError } from '../../shared/core/errors.ts';
import type { NotDone, Outcome, Unknown } from '../../shared/core/outcome.ts';
import { DAY_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { logLines } from '../builders/log-lines.ts';
import { NOON } from '../builders/payment.ts';

/** An invented gift card with a balance at the provider. */
interface Card {
  readonly status: 'loading' | 'loaded' | 'empty';
}
const LOADING: Card = { status: 'loading' };
const LOADED: Card = { status: 'loaded' };
const EMPTY: Card = { status: 'empty' };

type Report = 'loaded' | 'busy' | 'unknown here' | 'closed' | 'ended';
const STATES: Readonly<Record<Report, Applied<Card, Card>>> = {
  loaded: { state: 'settled', record: LOADED },
  busy: { state: 'open', record: LOADING },
  'unknown here': { state: 'absent', record: LOADING },
  closed: { state: 'over', record: LOADING },
  ended: { state: 'settled', record: EMPTY, refusal: OVER },
};

const done = (value: Report): Outcome<Report> => ({ kind: 'done', value });
const UNKNOWN = { kind: 'unknown', reason: 'timeout' } as const;
const NOT_DONE = { kind: 'not_done', reason: 'unreachable' } as const;
const REFUSED = { kind: 'refused', reason: 'limit' } as const;
const DECLINED = { kind: 'declined', code: 'expired_card', attemptRef: undefined } as const;

const unclear = (by: 'response' | 'refusal' | 'look', outcome: NotDone | Unknown) => ({
  ...{ record: LOADING, isUnclear: true, unanswered: { by, outcome } },
});

interface World {
  /** The provider's responses to the call and to reads. */
  readonly sent?: Outcome<Report>;
  readonly read?: Outcome<Report>;
  /** The time since the claim. */
  readonly afterMs?: number;
  readonly mayNotSend?: true;
  readonly declineEnds?: true;
}

const play = ({ sent = UNKNOWN, read = UNKNOWN, afterMs = 0, mayNotSend, declineEnds }: World) => {
  const steps: string[] = [];
  const ends: EndedCall<Report>[] = [];
  const looks: { readonly at: number; readonly step: number }[] = [];
  const { lines, log } = logLines();
  const parts = { deps: { now: () => NOON + afterMs, log } };
  const kind: CallKind<typeof parts, Card, Card, Report> & LookedUp<typeof parts, Card, Card> = {
    send: async (_, claim) => {
      steps.push('send');
      return { claim, outcome: sent };
    },
    find: async () => {
      steps.push('read');
      return read;
    },
    apply: async (_, __, { by, report }) => {
      steps.push(`apply ${by}`);
      return STATES[report];
    },
    end: async (_, __, end): Promise<CallResult<Card>> => {
      ends.push(end);
      return { record: EMPTY, refusal: end.refusal };
    },
    takeBack: async (_, __, notDone: NotDone) => ({ record: EMPTY, notDone }),
    ...(declineEnds && { endsUnread: ({ kind }) => kind === 'declined' }),
    claimedAt: () => NOON,
    step: () => 0,
    maySend: async () => !mayNotSend,
    setLook: async (_, __, look) => {
      looks.push(look);
      return undefined;
    },
    stuck: () => ['payment stuck', { payment_id: 'pay_1' }],
    statusOf: ({ status }) => status,
  };
  return {
    steps,
    ends,
    looks,
    lines,
    make: () => makeCall(kind, parts, LOADING),
    lookUp: () => lookUpCall(kind, parts, LOADING),
    resend: () => resendCall(kind, parts, LOADING),
  };
};

describe('a claimed call', () => {
  test.each<[string, World, CallResult<Card>, readonly string[]]>([
    ['applies a response', { sent: done('loaded') }, { record: LOADED }, ['send', 'apply response']],
    [
      'stays claimed while the provider decides',
      { sent: done('busy') },
      { record: LOADING },
      ['send', 'apply response'],
    ],
    ['stays claimed after a lost response', { sent: UNKNOWN }, unclear('response', UNKNOWN), ['send']],
    [
      'is taken back if it certainly did not happen',
      { sent: NOT_DONE },
      { record: EMPTY, notDone: NOT_DONE },
      ['send'],
    ],
    [
      'ends if its object has ended, so that the call can never be carried out',
      { sent: done('closed') },
      { record: EMPTY, refusal: OVER },
      ['send', 'apply response'],
    ],
    [
      'ends with the refusal once a read shows that the provider did nothing',
      { sent: REFUSED, read: done('unknown here') },
      { record: EMPTY, refusal: REFUSED },
      ['send', 'read', 'apply refusal'],
    ],
    [
      'stays claimed after a refusal while the provider cannot be read',
      { sent: REFUSED, read: UNKNOWN },
      unclear('refusal', UNKNOWN),
      ['send', 'read'],
    ],
    [
      'is applied after a refusal if an earlier call was carried out',
      { sent: REFUSED, read: done('loaded') },
      { record: LOADED },
      ['send', 'read', 'apply refusal'],
    ],
    [
      'stays claimed after a refusal while an earlier call is under way',
      { sent: REFUSED, read: done('busy') },
      { record: LOADING, isUnclear: true },
      ['send', 'read', 'apply refusal'],
    ],
    [
      'reads the provider after a decline, as after a refusal',
      { sent: DECLINED, read: done('unknown here') },
      { record: EMPTY, refusal: DECLINED },
      ['send', 'read', 'apply refusal'],
    ],
    [
      'ends with a decline, without a read, if its kind allows that',
      { sent: DECLINED, declineEnds: true },
      { record: EMPTY, refusal: DECLINED },
      ['send'],
    ],
  ])('%s', async (_, world, result, steps) => {
    const { make, ...seen } = play(world);
    const { open, ...made } = await make();
    expect(made).toEqual(result);
    expect(open).toEqual(made.record.status === 'loading' ? LOADING : undefined);
    expect(seen.steps).toEqual(steps);
    expect(seen.ends.every(({ isLate }) => !isLate)).toBe(true);
  });
});

describe('a look at a claimed call', () => {
  const EARLY = MINUTE_MS;
  const LATE = RESEND_WITHIN_MS + 1;

  test.each<[string, World, string, readonly string[]]>([
    ['applies the report that it reads', { read: done('loaded') }, 'loaded', ['read', 'apply look']],
    ['sends nothing while the provider cannot be read', { read: UNKNOWN, afterMs: LATE }, 'provider unclear', ['read']],
    [
      'waits while the provider decides',
      { read: done('busy'), afterMs: LATE },
      'still under way',
      ['read', 'apply look'],
    ],
    [
      'resends a call that never arrived',
      { read: done('unknown here'), sent: done('loaded'), afterMs: EARLY },
      'loaded',
      ['read', 'apply look', 'send', 'apply response'],
    ],
    [
      'keeps the claim if the call cannot be sent now',
      { read: done('unknown here'), sent: NOT_DONE, afterMs: EARLY },
      'not sent',
      ['read', 'apply look', 'send'],
    ],
    [
      'keeps the claim if the response is lost again',
      { read: done('unknown here'), sent: UNKNOWN, afterMs: RESEND_WITHIN_MS },
      'loading',
      ['read', 'apply look', 'send'],
    ],
    [
      'ends a call that never arrived once the time for resends is over',
      { read: done('unknown here'), sent: done('loaded'), afterMs: LATE },
      'empty',
      ['read', 'apply look'],
    ],
    [
      'ends a call that never arrived and may not be sent any more',
      { read: done('unknown here'), sent: done('loaded'), afterMs: EARLY, mayNotSend: true },
      'empty',
      ['read', 'apply look'],
    ],
    [
      'ends a call whose object has ended, so that the call can never be carried out',
      { read: done('closed') },
      'empty',
      ['read', 'apply look'],
    ],
  ])('%s', async (_, world, result, steps) => {
    const { lookUp, ...seen } = play(world);
    expect((await lookUp()).text).toBe(result);
    expect(seen.steps).toEqual(steps);
    expect(seen.ends.every(({ isLate }) => isLate)).toBe(true);
    const staysOpen = ['provider unclear', 'still under way', 'not sent', 'loading'].includes(result);
    const next = nextLook(NOON, 0, NOON + (world.afterMs ?? 0));
    expect(seen.looks).toEqual(staysOpen ? [expect.objectContaining(next)] : []);
  });

  test.each<[string, World, CallResult<Card>, readonly string[]]>([
    ['sends the call before any read', { sent: done('loaded') }, { record: LOADED }, ['send', 'apply response']],
    ['keeps the claim if the call cannot be sent', { sent: NOT_DONE }, unclear('response', NOT_DONE), ['send']],
    ['keeps the claim after a lost response', { sent: UNKNOWN }, unclear('response', UNKNOWN), ['send']],
    [
      'reads the provider after a refusal',
      { sent: REFUSED, read: done('unknown here') },
      { record: EMPTY, refusal: REFUSED },
      ['send', 'read', 'apply refusal'],
    ],
    [
      'keeps the provider’s refusal as the reason if a read shows that the object has ended',
      { sent: REFUSED, read: done('ended') },
      { record: EMPTY, refusal: REFUSED },
      ['send', 'read', 'apply refusal'],
    ],
  ])('that begins with a resend %s', async (_, world, result, steps) => {
    const { resend, ...seen } = play(world);
    const { text: _text, ...made } = await resend();
    expect(made).toEqual(result);
    expect(seen.steps).toEqual(steps);
    expect(seen.looks).toHaveLength(made.isUnclear ? 1 : 0);
  });

  test('reports an unclear outcome if the read gets no response', async () => {
    expect(await play({ read: UNKNOWN }).lookUp()).toMatchObject(unclear('look', UNKNOWN));
  });

  test.each([
    ['whose outcome is unknown', UNKNOWN, 30 * MINUTE_MS],
    ['on which the provider has not decided', done('busy'), 7 * DAY_MS],
  ] as const)('warns of a call %s once the call reaches its time limit', async (_, read, limit) => {
    for (const [afterMs, warnings] of [
      [limit - 1, 0],
      [limit, 1],
    ] as const) {
      const { lookUp, lines } = play({ read, afterMs });
      await lookUp();
      expect(lines).toHaveLength(warnings);
    }
  });

  test('comes after 1, 5 and 30 minutes, 2, 12 and 24 hours, then daily, and never at a time that has passed', () => {
    expect(LOOKS_AFTER_MS).toEqual([1, 5, 30, 120, 720, 1_440].map((minutes) => minutes * MINUTE_MS));
    expect(nextLook(NOON, 5, NOON)).toEqual({ at: NOON + 2 * DAY_MS, step: 6 });
    expect(nextLook(NOON, 0, NOON + 6 * MINUTE_MS)).toEqual({ at: NOON + 30 * MINUTE_MS, step: 2 });
  });
});

describe('a claimed creation', () => {
  const create = async (outcome: Outcome<Report>, isFirstTry?: boolean) => {
    let sent = 0;
    const ending = (name: string) => async (given: unknown) => [name, given] as const;
    const end = await runCreation<Report, readonly [string, unknown]>({
      isFirstTry,
      send: async () => {
        sent += 1;
        return outcome;
      },
      publish: ending('published'),
      remove: ending('removed'),
      keep: ending('kept'),
    });
    return { end, sent };
  };

  test.each<[string, Outcome<Report>, string, string]>([
    ['is published', done('loaded'), 'published', 'published'],
    ['is removed after a decline', DECLINED, 'removed', 'removed'],
    ['is removed after a refusal', REFUSED, 'removed', 'removed'],
    [
      'is removed if its first call did not happen, but kept if a later call did not happen',
      NOT_DONE,
      'removed',
      'kept',
    ],
    ['is kept after a lost response', UNKNOWN, 'kept', 'kept'],
  ])('%s', async (_, outcome, first, later) => {
    const given = outcome.kind === 'done' ? outcome.value : outcome;
    expect(await create(outcome, true)).toEqual({ end: [first, given], sent: 1 });
    expect(await create(outcome, false)).toEqual({ end: [later, given], sent: 1 });
    expect(await create(outcome)).toEqual({ end: [later, given], sent: 1 });
  });

  test('fails with the error of its last step', async () => {
    const fail = async () => {
      throw new DomainError('PROVIDER_TIMEOUT');
    };
    const lost = runCreation({ send: async () => UNKNOWN, publish: fail, remove: fail, keep: fail });
    await expect(lost).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT' });
  });
});

describe('the table of mutually exclusive calls', () => {
  const ALL = [
    ...(['capture', 'release', 'charge', 'update', 'attempt', 'creation'] as const),
    ...(['plan change', 'price update', 'transfer'] as const),
  ];

  test.each([
    ['charge', ['charge', 'update']],
    ['cancellation', ['charge']],
    ['payment erasure', ['charge', 'update']],
    ['capture', ['capture', 'release']],
    ['release', ['capture', 'release']],
    ['plan change', ['charge', 'plan change', 'price update', 'transfer']],
    ['transfer', ['charge', 'plan change', 'price update', 'transfer']],
    ['pause', ['plan change', 'price update', 'transfer']],
    ['price update', ['price update', 'transfer']],
    ['command', ['transfer']],
    ['start', ['attempt']],
    ['end', ['plan change']],
    ['subscription erasure', ['creation', 'plan change']],
  ] as const)('refuses a %s while one of %j is open', (wanted, excluding) => {
    const refuses = ALL.filter((open) => {
      try {
        requireFree(wanted, [open]);
        return false;
      } catch {
        return true;
      }
    });
    expect(refuses).toEqual([...excluding]);
  });
});
