import type { DeclineReason } from './behaviours.ts';
import type { LedgerMethod, LedgerSetup } from './documents.ts';
import { attachMethod } from './methods.ts';
import type { Unit } from './unit.ts';

/** The outcome of storing a method for later use without a charge. */
export interface SetupOutcome {
  readonly setup: LedgerSetup;
  readonly declined?: { readonly method: LedgerMethod; readonly reason: DeclineReason };
}

export const attemptSetup = (unit: Unit, setup: LedgerSetup, method: LedgerMethod): SetupOutcome => {
  const started: LedgerSetup = { ...setup, methodId: method.id, failure: null };
  const behaviour = method.behaviour;
  if (behaviour.kind === 'declines' && !behaviour.attaches) {
    return {
      setup: failSetup(unit, { setup: started, method }, behaviour.reason),
      declined: { method, reason: behaviour.reason },
    };
  }
  if (behaviour.kind === 'asks_customer') {
    const asked = unit.documents.setups.put({ ...started, status: 'requires_action' });
    unit.announce({ kind: 'setup.requires_action', setup: asked });
    return { setup: asked };
  }
  return { setup: succeedSetup(unit, { setup: started, method }) };
};

interface SetupAttempt {
  readonly setup: LedgerSetup;
  readonly method: LedgerMethod;
}

export const authenticateSetup = (unit: Unit, attempt: SetupAttempt, passed: boolean): LedgerSetup =>
  passed ? succeedSetup(unit, attempt) : failSetup(unit, attempt, 'authentication_failed');

const succeedSetup = (unit: Unit, { setup, method }: SetupAttempt): LedgerSetup => {
  const known = unit.documents.methods.put({ ...method, setUp: true });
  if (known.customerId === null && setup.customerId !== null) attachMethod(unit, known, setup.customerId);
  const succeeded = unit.documents.setups.put({ ...setup, status: 'succeeded' });
  unit.announce({ kind: 'setup.succeeded', setup: succeeded });
  return succeeded;
};

const failSetup = (unit: Unit, { setup, method }: SetupAttempt, reason: DeclineReason): LedgerSetup => {
  const failed = unit.documents.setups.put({
    ...setup,
    status: 'requires_payment_method',
    methodId: null,
    failure: { reason, chargeId: null, methodId: method.id },
  });
  unit.announce({ kind: 'setup.failed', setup: failed });
  return failed;
};
