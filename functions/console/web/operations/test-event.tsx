/** @module The dialog that sends a sample event to every subscribed target and shows the responses. */

import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import type { TestResult } from '../api/types.ts';
import { useKeyedAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { Done, ProblemNote, Status } from '../view/parts.tsx';

export const CANONICAL_EVENTS = [
  'payment.succeeded',
  'payment.failed',
  'payment.created',
  'payment.updated',
  'payment.authorized',
  'payment.capture_due',
  'payment.released',
  'payment.captured_more',
  'payment.capture_failed',
  'payment.release_failed',
  'payment.refunded',
  'payment.refund_failed',
  'payment.dispute_opened',
  'payment.dispute_updated',
  'payment.dispute_closed',
  'subscription.created',
  'subscription.updated',
  'subscription.cancelled',
  'membership.pending',
  'membership.activated',
  'membership.extended',
  'membership.cancelled',
  'customer.created',
  'customer.updated',
] as const;

export const TestEventDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [event, setEvent] = useState<string>(CANONICAL_EVENTS[0]);
  const [result, setResult] = useState<TestResult>();
  const sending = useKeyedAction(async (key) => {
    const params = { header: { 'Idempotency-Key': key } };
    setResult((await answerOf(api.POST('/webhooks/test', { params, body: { event, test_data: {} } }))).data.data);
  }, event);
  return (
    <Dialog title="Send test event" onClose={onClose}>
      <p class="quiet">A sample with the header webhook-test: true. Targets must not act on it.</p>
      <label class="field">
        <span>Event</span>
        <select
          value={event}
          onChange={({ currentTarget }) => {
            setEvent(currentTarget.value);
            setResult(undefined);
          }}
        >
          {CANONICAL_EVENTS.map((name) => (
            <option key={name} value={name} selected={name === event}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {sending.problem && <ProblemNote problem={sending.problem} />}
      {result && <Results result={result} />}
      <DialogActions back="Close" onBack={onClose} act={['Send', 'Sending…']} action={sending} />
    </Dialog>
  );
};

const Results = ({ result: { targets } }: { readonly result: TestResult }) => {
  if (targets.length === 0) {
    return (
      <p class="note">
        No target is configured. The operator sets WEBHOOK_1_URL, and WEBHOOK_1_ENABLED and EXTERNAL_WEBHOOKS_ENABLED to
        true.
      </p>
    );
  }
  return (
    <Done>
      <ul class="plain-list">
        {targets.map(({ node, host, status, http_status: code }) => (
          <li key={node}>
            <strong>{node}</strong> at {host} <Status of={status} /> {code !== undefined && `HTTP ${code}`}
          </li>
        ))}
      </ul>
    </Done>
  );
};
