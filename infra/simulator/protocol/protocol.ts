import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProviderSlot } from '../../../shared/core/settings.ts';
import type { Clock } from '../../local/machine/clock.ts';
import { NeverArrived } from '../ledger/unit.ts';
import { ConnectionDropped, type SlotOptions } from '../state/options.ts';
import type { FaultAction, Faults } from './faults.ts';
import { answerOfUsedKey, type KeptVendorAnswers } from './idempotency.ts';
import type { Journal } from './journal.ts';
import { lost, type Units } from './ledger-work.ts';
import { type Answer, type Call, Refused, type Vendor, type VendorCaller } from './vendor.ts';

/**
 * Every vendor call passes authentication → journal → fault → idempotency key → the vendor, in one transaction →
 * response. Vendors differ only in their formats.
 */
export interface Protocol {
  answer(vendor: Vendor, request: Request): Promise<Response>;
  close(): void;
}

interface ProtocolParts {
  readonly clock: Clock;
  readonly units: Units;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly kept: KeptVendorAnswers;
  readonly slots: readonly (readonly [ProviderSlot, SlotOptions])[];
}

/** Real time until the socket of a call without a response is destroyed. */
const HOLD_MS = 30_000;

export const openProtocol = (parts: ProtocolParts): Protocol => {
  const holding = new Set<() => void>();
  return {
    answer: async (vendor, request) => {
      const call = await readCall(vendor, request);
      const caller = vendor.identify(call, slotsOf(parts, vendor));
      if ('status' in caller) return respond(caller, vendor.headersOf(call, vendor.formatId('request', 0, 'none')));
      const outcome = await carryOut(parts, { vendor, call, caller });
      if (outcome.kind === 'answer') return outcome.response;
      if (outcome.kind === 'silence') await hold(request.signal, holding);
      throw new ConnectionDropped(`${call.method} ${call.path} gets no response`);
    },
    close: () => {
      for (const release of holding) release();
    },
  };
};

interface Incoming {
  readonly vendor: Vendor;
  readonly call: Call;
  readonly caller: VendorCaller;
}

type Outcome =
  | { readonly kind: 'answer'; readonly response: Response }
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' };

const carryOut = async (parts: ProtocolParts, incoming: Incoming): Promise<Outcome> => {
  const { vendor, call, caller } = incoming;
  const key = vendor.idempotency.keyOf(call);
  const number = parts.journal.begin({ at: parts.clock.now(), caller, call, idempotencyKey: key });
  const requestId = vendor.formatId('request', number, parts.units.tag);
  const send = (answer: Answer, body = answer.body): Outcome => {
    parts.journal.answered(number, answer.status);
    return { kind: 'answer', response: respond({ ...answer, body }, vendor.headersOf(call, requestId)) };
  };
  const fault = parts.faults.strike(caller.slot, call.method, `/${vendor.adapter}${call.path}`);
  const early = fault && earlyOutcome(fault, vendor, requestId);
  if (early === 'silence' || early === 'reset') return { kind: early };
  if (early) return send(early);
  const done = await execute(parts, { ...incoming, key, requestId });
  if (done === undefined || done.answerLost || fault === 'timeout_after') return { kind: 'silence' };
  if (fault === 'malformed') return send({ ...done.answer, status: 200 }, done.answer.body.slice(0, -2));
  return send(done.answer);
};

/** The result of a fault before the call runs; undefined for faults that occur afterwards. */
const earlyOutcome = (
  fault: FaultAction,
  vendor: Vendor,
  requestId: string,
): Answer | 'silence' | 'reset' | undefined => {
  switch (fault) {
    case 'timeout_before':
      return 'silence';
    case 'reset':
      return 'reset';
    case 'error_500':
      return vendor.serverError(requestId);
    case 'rate_limit':
      return vendor.rateLimited(requestId);
    case 'timeout_after':
    case 'malformed':
      return undefined;
  }
};

interface KeyedCall extends Incoming {
  readonly key: string | undefined;
  readonly requestId: string;
}

interface Executed {
  readonly answer: Answer;
  readonly answerLost: boolean;
}

/** @returns undefined if the call never arrived. */
const execute = async (parts: ProtocolParts, keyed: KeyedCall): Promise<Executed | undefined> => {
  const { key, call } = keyed;
  if (key === undefined) {
    await nextTurn();
    return commit(parts, keyed);
  }
  const { slot } = keyed.caller;
  const rules = keyed.vendor.idempotency;
  if (!parts.kept.claim(slot, key)) return { answer: rules.inUse(key), answerLost: false };
  try {
    // Each call takes one turn of the event loop, so that concurrent calls under the same key can collide.
    await nextTurn();
    const found = parts.kept.find(slot, key, parts.clock.now());
    if (found) return { answer: answerOfUsedKey(found, { key, call }, rules), answerLost: false };
    return commit(parts, keyed);
  } finally {
    parts.kept.release(slot, key);
  }
};

const commit = (parts: ProtocolParts, keyed: KeyedCall): Executed | undefined => {
  const { vendor, call, caller } = keyed;
  const cause = { requestId: keyed.requestId, idempotencyKey: keyed.key };
  try {
    const { result, answerLost } = parts.units.work(caller.slot, cause, (unit) => {
      const answer = vendor.execute(call, caller, unit);
      keep(parts, keyed, answer);
      return answer;
    });
    return { answer: result, answerLost };
  } catch (error) {
    if (error instanceof Refused) {
      keep(parts, keyed, error.answer);
      return { answer: error.answer, answerLost: false };
    }
    if (!(error instanceof NeverArrived)) throw error;
    if (error.attempt !== undefined) parts.units.rememberLost(lost(caller.slot, error.attempt));
    return undefined;
  }
};

const keep = (parts: ProtocolParts, { vendor, call, caller, key, requestId }: KeyedCall, answer: Answer): void => {
  if (key === undefined || !answer.began) return;
  const at = parts.clock.now();
  parts.kept.keep(caller.slot, {
    key,
    path: call.path,
    fingerprint: vendor.idempotency.fingerprintOf(call),
    status: answer.status,
    body: answer.body,
    requestId,
    at,
    expiresAt: at + vendor.idempotency.keepMs(call),
  });
};

const slotsOf = (parts: ProtocolParts, vendor: Vendor) =>
  parts.slots.filter(([, options]) => options.adapter === vendor.adapter);

const readCall = async (vendor: Vendor, request: Request): Promise<Call> => {
  const url = new URL(request.url);
  return {
    method: request.method,
    path: url.pathname.slice(`/${vendor.adapter}`.length) || '/',
    query: url.searchParams,
    headers: request.headers,
    body: await request.text(),
  };
};

const respond = (answer: Answer, headers: Record<string, string>): Response =>
  new Response(answer.status === 204 ? null : answer.body, {
    status: answer.status,
    headers: { 'content-type': 'application/json', ...headers, ...answer.headers },
  });

/** Waits until the caller gives up, HOLD_MS have passed, or the simulator closes. */
const hold = (signal: AbortSignal, holding: Set<() => void>): Promise<void> =>
  new Promise((resolve) => {
    const release = (): void => {
      clearTimeout(timer);
      holding.delete(release);
      signal.removeEventListener('abort', release);
      resolve();
    };
    const timer = setTimeout(release, HOLD_MS).unref();
    holding.add(release);
    signal.addEventListener('abort', release);
    if (signal.aborted) release();
  });
