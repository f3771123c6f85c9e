/**
 * @module Our own test values for a vault id, a setup token or an approval's payer. PayPal's sandbox has test accounts
 * instead. A value with a decline reason is a card, because PayPal gives a processor's reason only for cards.
 */
import {
  type Behaviour,
  captureDeclined,
  captureDeclinedLater,
  captureDelayed,
  type DeclineReason,
  declines,
  heldForAnHour,
  laterDecline,
  succeeds,
} from '../../ledger/behaviours.ts';
import type { LedgerMethod } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';

interface TestSource {
  readonly source: 'paypal' | 'card';
  readonly behaviour: Behaviour;
}

const wallet = (behaviour: Behaviour): TestSource => ({ source: 'paypal', behaviour });
const card = (behaviour: Behaviour): TestSource => ({ source: 'card', behaviour });
const declinedCard = (reason: DeclineReason): TestSource => card(declines(reason));

export const DEFAULT_PAYER = 'SIM-OK';

const SOURCES: Readonly<Record<string, TestSource>> = {
  [DEFAULT_PAYER]: wallet(succeeds),
  'SIM-CARD': card(succeeds),
  'SIM-DECLINED': wallet(declines('generic_decline')),
  'SIM-NSF': declinedCard('insufficient_funds'),
  'SIM-LOST': declinedCard('lost_card'),
  'SIM-EXPIRED': declinedCard('expired_card'),
  'SIM-CVC': declinedCard('incorrect_cvc'),
  'SIM-DO-NOT-HONOR': declinedCard('do_not_honor'),
  'SIM-PROCESSING-ERROR': declinedCard('processing_error'),
  'SIM-AUTHENTICATION': declinedCard('authentication_required'),
  'SIM-PICKUP-CARD': declinedCard('pickup_card'),
  'SIM-INVALID-ACCOUNT': declinedCard('invalid_account'),
  'SIM-ACCOUNT-CLOSED': declinedCard('account_closed'),
  'SIM-REVOKED': declinedCard('authorization_revoked'),
  'SIM-STOPPED': declinedCard('payment_stopped'),
  'SIM-NEVER-AGAIN': declinedCard('never_again'),
  'SIM-AGREEMENT-CANCELED': declinedCard('agreement_canceled'),
  'SIM-WRONG-DATA': declinedCard('wrong_data'),
  'SIM-FAIL-LATER': wallet({ kind: 'declines', reason: 'generic_decline', attaches: true }),
  'SIM-REFUND-PENDING': wallet({ kind: 'succeeds', refunds: 'pending_then_succeeded' }),
  'SIM-REFUND-PENDING-FAIL': wallet({ kind: 'succeeds', refunds: 'pending_then_failed' }),
  'SIM-REFUND-FAIL-LATER': wallet({ kind: 'succeeds', refunds: 'succeeded_then_failed' }),
  'SIM-DISPUTED': wallet({ kind: 'succeeds', disputed: { reason: 'product_not_received', inquiry: false } }),
  'SIM-DISPUTED-INQUIRY': wallet({ kind: 'succeeds', disputed: { reason: 'product_not_received', inquiry: true } }),
  'SIM-CARD-3DS': card({ kind: 'asks_customer', until: 'never' }),
  'SIM-PAYER-ACTION': wallet({ kind: 'asks_customer', until: 'never' }),
  'SIM-PENDING-OK': wallet({ kind: 'settles_later', outcome: 'succeeded' }),
  'SIM-PENDING-FAIL': wallet({ kind: 'settles_later', outcome: 'failed' }),
  'SIM-CAPTURE-DECLINED': wallet(captureDeclined),
  'SIM-CAPTURE-PENDING': wallet(captureDelayed),
  'SIM-CAPTURE-PENDING-FAIL': wallet(captureDeclinedLater),
  'SIM-HOLD-1H': wallet(heldForAnHour),
  'SIM-TIMEOUT-BEFORE': wallet({ kind: 'loses_connection', committed: false }),
  'SIM-TIMEOUT-AFTER': wallet({ kind: 'loses_connection', committed: true }),
};

/** The source of a listed test value, or of a value such as `SIM-OK-3-THEN-LOST`. */
const sourceOf = (value: string): TestSource | undefined => {
  if (Object.hasOwn(SOURCES, value)) return SOURCES[value];
  const later = value.startsWith('SIM-') ? laterDecline(value.slice('SIM-'.length).toLowerCase()) : undefined;
  return later && (value.endsWith('-DECLINE') ? wallet(later) : card(later));
};

/** @returns a new method with the test value's behavior; undefined for other values. */
export const methodOfTestValue = (unit: Unit, value: string): LedgerMethod | undefined => {
  const found = sourceOf(value);
  return found && newMethod(unit, value, found);
};

export const newMethod = (unit: Unit, token: string, made: TestSource): LedgerMethod =>
  unit.documents.methods.put({ ...drafted(unit, token, made), id: unit.newId('method') });

/** Reads a test value as a saved method's token, and stores nothing. */
export const tokenOfTestValue = (unit: Unit, value: string): LedgerMethod | undefined => {
  const found = sourceOf(value);
  return found && drafted(unit, value, found);
};

const drafted = (unit: Unit, token: string, { source, behaviour }: TestSource): LedgerMethod => ({
  id: token,
  provider: unit.slot,
  metadata: {},
  wire: { source },
  createdAt: unit.at,
  type: source === 'card' ? 'card' : 'wallet',
  bankName: source === 'card' ? 'Simulated Bank' : null,
  card: {
    brand: source === 'card' ? 'visa' : 'paypal',
    last4: source === 'card' ? '1111' : '',
    expMonth: 12,
    expYear: new Date(unit.at).getUTCFullYear() + 4,
    country: 'US',
    funding: 'credit',
    fingerprint: `${source}-${token}`,
    wallet: null,
  },
  token,
  behaviour,
  billing: { name: 'John Doe', email: 'payer@example.com', phone: null, address: null },
  customerId: null,
  spent: false,
  setUp: false,
});

export const isCard = (method: LedgerMethod | undefined): boolean => method?.wire['source'] === 'card';
