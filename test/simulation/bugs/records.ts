import type { Bug } from './bug.ts';

/** Mistakes in saved methods, deletions, erasures and events. */
export const RECORD_BUGS: readonly Bug[] = [
  {
    name: 'method-stays-attached',
    what: 'A deleted method stays attached at its provider',
    file: 'shared/removal/payment-method.ts',
    text: "requireDone(await provider.detachMethod(attachedId), 'id');",
    replacement: '',
  },
  {
    name: 'customer-stays-there',
    what: 'A deleted customer stays at its provider',
    file: 'shared/removal/customer.ts',
    text: "requireDone(await provider.deleteCustomer(customer.providerCustomerId), 'id');",
    replacement: '',
  },
  {
    name: 'default-is-lost',
    what: 'A new default does not replace the earlier one',
    file: 'shared/table/defaults.ts',
    text: 'await table.put({ ...defaultKey(slot), recordId });',
    replacement: 'await table.put({ ...defaultKey(slot), recordId }, [{ absent: true }]);',
  },
  {
    name: 'organization-keeps-members',
    what: 'The members of a deleted organization stay',
    file: 'shared/removal/organization-children.ts',
    text: '    itemsUnder(organizationKey(organizationId).pk, MEMBER_PREFIX),',
    replacement: '',
  },
  {
    name: 'erased-person-keeps-e-mail',
    what: 'An erased payment keeps the e-mail address of its payer',
    file: 'shared/payments/record/versions.ts',
    text: 'const PERSON = { userEmail: undefined, guestEmail: undefined, guestName',
    replacement: 'const PERSON = { guestName',
  },
  {
    name: 'event-on-every-version',
    what: 'Every change of a paid payment publishes payment.succeeded',
    file: 'shared/payments/record/events.ts',
    text: 'if (!existed || before.status !== after.status || failsAgain) {',
    replacement: '{',
  },
  {
    name: 'event-id-by-time',
    what: 'A repeated event has another id',
    file: 'shared/events/bus-event.ts',
    text: 'changeId(record.id, record.version, event);',
    replacement: 'changeId(record.id, record.version, event) + String(Math.floor(Date.now() / 1_000));',
  },
  {
    name: 'event-lost-by-the-bus',
    what: 'Events that the bus refuses are not published again',
    file: 'shared/workers/publish-changes.ts',
    text: 'return events[firstFailed]?.change.sequenceNumber;',
    replacement: 'return undefined;',
  },
  {
    name: 'webhook-lost',
    what: 'A delivery without an answer counts as delivered',
    file: 'shared/webhooks/outbound/attempt.ts',
    text: "if (answer.kind === 'failed') return 'failed';",
    replacement: "if (answer.kind === 'failed') return 'delivered';",
  },
  {
    name: 'withdrawn-attempt-published',
    what: 'The event of a payment is derived from the wish, not from the change',
    file: 'shared/payments/record/events.ts',
    text: "if (after.status === 'failed') names.push('payment.failed');",
    replacement: "if (after.status === 'processing') names.push('payment.failed');",
  },
  {
    name: 'key-in-the-log',
    what: 'The log names a request by its idempotency key',
    file: 'shared/http/lambda.ts',
    text: 'request_id: exchange.requestId,\n  endpoint',
    replacement: "request_id: exchange.event.headers['idempotency-key'] ?? exchange.requestId,\n  endpoint",
  },
];
