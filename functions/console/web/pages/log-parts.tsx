/** @module Parts of a webhook log entry, shared by the payment timeline and the Webhooks page. */

import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { may } from '../api/session.ts';
import { newKey, useAction } from '../view/action.ts';
import { useLoaded } from '../view/load.ts';
import { Json, Loading, ProblemNote } from '../view/parts.tsx';

interface PayloadProps {
  readonly logId: string;
  /** The name of the event or delivery, from its payload. */
  readonly name: string;
}

/** Shows the stored, redacted payload on demand. */
export const PayloadOfLog = ({ logId, name }: PayloadProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Hide payload' : 'Show payload'}
      </button>
      {isOpen && <Payload logId={logId} name={name} />}
    </>
  );
};

const Payload = ({ logId, name }: PayloadProps) => {
  const { data, problem, reload } = useLoaded(logId, async () => {
    const call = api.GET('/webhooks/logs/{id}', { params: { path: { id: logId } } });
    return (await answerOf(call)).data;
  });
  return (
    <div class="payload">
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && !problem && <Loading what="the payload" />}
      {data && (
        <>
          <h3>Payload</h3>
          <Json value={data.payload} name={`Payload of ${name}`} />
          <h3>Response</h3>
          <Json value={data.response} name={`Response to ${name}`} />
        </>
      )}
    </div>
  );
};

interface SendAgainProps {
  readonly logId: string;
  readonly eventId: string;
  /** The event and its target, for the message. */
  readonly what: string;
  readonly onSent?: () => void;
}

/** True for a test event. Test events are not stored, so they cannot be sent again. */
export const isTestEvent = (eventId: string): boolean => eventId.startsWith('msg_test_');

/** Resends the event of a delivery to its target. */
export const SendAgain = ({ logId, eventId, what, onSent }: SendAgainProps) => {
  const [isSent, setSent] = useState(false);
  const sending = useAction(async () => {
    setSent(false);
    const params = { path: { id: logId }, header: { 'Idempotency-Key': newKey() } };
    await answerOf(api.POST('/webhooks/logs/{id}/replay', { params, body: {} }));
    setSent(true);
    onSent?.();
  });
  if (!may('webhooks:write') || isTestEvent(eventId)) return null;
  return (
    <>
      <button type="button" class="small" disabled={sending.isBusy} onClick={sending.run}>
        {sending.isBusy ? 'Sending…' : 'Send again'}
      </button>
      {isSent && (
        <span class="sent" role="status">
          Queued: {what}
        </span>
      )}
      {sending.problem && <ProblemNote problem={sending.problem} />}
    </>
  );
};
