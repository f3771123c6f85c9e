import { describe, expect, test } from 'vitest';
import { DISPUTE_STATUSES, REFUND_STATUSES } from '../../shared/core/money-back.ts';
import { DISPUTE_TRANSITIONS, isLaterDispute, requireDisputeTransition } from '../../shared/payments/dispute-states.ts';
import { REFUND_TRANSITIONS } from '../../shared/payments/refunds/refund-states.ts';

/** Reports move a refund only forward in this order. */
const REFUND_ORDER = ['pending', 'canceled', 'succeeded', 'failed'] as const;
/** Reports with the same time as the last report move a dispute only forward in this order. */
const DISPUTE_ORDER = ['needs_response', 'under_review', 'closed', 'won', 'lost'] as const;

const pairs = DISPUTE_STATUSES.flatMap((from) => DISPUTE_STATUSES.map((to) => [from, to] as const));

describe('the transition table of a refund', () => {
  test.each(REFUND_STATUSES.filter((status) => status !== 'failed'))(
    'lets a report change %s to any later status',
    (from) => {
      const later = REFUND_ORDER.slice(REFUND_ORDER.indexOf(from) + 1);
      expect(REFUND_TRANSITIONS[from].report).toEqual(later);
    },
  );

  test('lets a report move a failed refund to any other status, and lets the refund be canceled as a duplicate', () => {
    expect(REFUND_TRANSITIONS.failed).toEqual({ report: REFUND_ORDER.slice(0, -1), duplicate: ['canceled'] });
  });

  test.each(['pending', 'succeeded', 'failed'] as const)(
    'lets a %s refund be canceled as a duplicate of another record',
    (from) => {
      expect(REFUND_TRANSITIONS[from].duplicate).toEqual(['canceled']);
    },
  );

  test('allows a refusal or a refund limit to set only a pending refund to failed', () => {
    const others = REFUND_STATUSES.filter((status) => status !== 'pending');
    expect(REFUND_TRANSITIONS.pending).toMatchObject({ refusal: ['failed'], limit: ['failed'] });
    expect(REFUND_TRANSITIONS.canceled.duplicate).toBeUndefined();
    const causes = new Set(others.flatMap((status) => Object.keys(REFUND_TRANSITIONS[status])));
    expect([...causes].sort()).toEqual(['duplicate', 'report']);
  });
});

describe('the transition table of a dispute', () => {
  test.each(pairs)('lets a newer report change %s to %s', (from, to) => {
    expect(DISPUTE_TRANSITIONS[from].report?.includes(to) ?? false).toBe(from !== to);
    const store = () => requireDisputeTransition({ id: 'dsp_1', status: from }, { status: to }, 'report');
    expect(store).not.toThrow();
  });

  test.each(pairs)('lets a report with the same time change %s to %s only if that is forward', (from, to) => {
    const isLater = DISPUTE_ORDER.indexOf(to) > DISPUTE_ORDER.indexOf(from);
    expect(isLaterDispute(from, to)).toBe(isLater);
    expect(DISPUTE_TRANSITIONS[from].tie?.includes(to) ?? false).toBe(isLater);
    const store = () => requireDisputeTransition({ id: 'dsp_1', status: from }, { status: to }, 'tie');
    if (isLater || from === to) expect(store).not.toThrow();
    else expect(store).toThrow(`dispute dsp_1 may not change from ${from} to ${to} by tie`);
  });
});
