/** @module The actions on a service key. A revoked key has none. */

import { useState } from 'preact/hooks';
import { answerOf, api, done } from '../api/client.ts';
import type { KeyWithSecret, ServiceKey } from '../api/types.ts';
import { useAction, useKeyedAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { ProblemNote } from '../view/parts.tsx';
import { RecordActions } from '../view/record-actions.tsx';
import { draftOf, fieldsOf, KeyForm } from './key-form.tsx';
import { SecretDialog } from './secret-dialog.tsx';

interface KeyActionsProps {
  readonly serviceKey: ServiceKey;
  readonly onChanged: () => void;
}

type Open = 'change' | 'rotate' | 'revoke' | undefined;

export const KeyActions = ({ serviceKey, onChanged }: KeyActionsProps) => {
  const [open, setOpen] = useState<Open>();
  const props = { serviceKey, onChanged, onClose: () => setOpen(undefined) };
  if (serviceKey.status === 'revoked') return null;
  return (
    <>
      <RecordActions
        actions={[
          { name: 'Change', run: () => setOpen('change') },
          { name: 'Rotate', run: () => setOpen('rotate') },
          { name: 'Revoke', run: () => setOpen('revoke') },
        ]}
      />
      {open === 'change' && <ChangeDialog {...props} />}
      {open === 'rotate' && <RotateDialog {...props} />}
      {open === 'revoke' && <RevokeDialog {...props} />}
    </>
  );
};

interface DialogProps extends KeyActionsProps {
  readonly onClose: () => void;
}

const ChangeDialog = ({ serviceKey, onChanged, onClose }: DialogProps) => {
  const [before] = useState(() => draftOf(serviceKey));
  return (
    <Dialog title="Change key" onClose={onClose}>
      <p class="quiet">New scopes and addresses take effect within five seconds. The secret stays the same.</p>
      <KeyForm
        initial={before}
        act={['Save', 'Saving…']}
        send={async (draft) => {
          const params = { path: { id: serviceKey.id } };
          await answerOf(api.PATCH('/admin/keys/{id}', { params, body: fieldsOf(draft, before) }));
          onChanged();
          onClose();
        }}
        onClose={onClose}
      />
    </Dialog>
  );
};

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

const GRACES = [
  { seconds: 0, text: 'Not at all' },
  { seconds: HOUR_SECONDS, text: '1 hour' },
  { seconds: DAY_SECONDS, text: '1 day' },
  { seconds: 7 * DAY_SECONDS, text: '7 days' },
] as const;

const RotateDialog = ({ serviceKey: { id, name }, onChanged, onClose }: DialogProps) => {
  const [graceSeconds, setGraceSeconds] = useState<number>(DAY_SECONDS);
  const [made, setMade] = useState<KeyWithSecret>();
  const rotating = useKeyedAction(async (key) => {
    const call = api.POST('/admin/keys/{id}/rotate', {
      params: { path: { id }, header: { 'Idempotency-Key': key } },
      body: { grace_seconds: graceSeconds },
    });
    setMade((await answerOf(call)).data.data);
    onChanged();
  }, String(graceSeconds));
  if (made) return <SecretDialog title="Key rotated" made={made} onClose={onClose} />;
  return (
    <Dialog title="Rotate this key?" onClose={onClose}>
      <p>
        {name} gets another secret. Choose how long the current secret stays valid, so that you can change your program
        first.
      </p>
      <label class="field">
        <span>The current secret stays valid</span>
        <select value={graceSeconds} onChange={({ currentTarget }) => setGraceSeconds(Number(currentTarget.value))}>
          {GRACES.map(({ seconds, text }) => (
            <option key={seconds} value={seconds} selected={seconds === graceSeconds}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {rotating.problem && <ProblemNote problem={rotating.problem} />}
      <DialogActions back="Back" onBack={onClose} act={['Rotate key', 'Rotating…']} action={rotating} />
    </Dialog>
  );
};

const RevokeDialog = ({ serviceKey: { id, name }, onChanged, onClose }: DialogProps) => {
  const revoking = useAction(async () => {
    await done(api.DELETE('/admin/keys/{id}', { params: { path: { id } } }));
    onChanged();
    onClose();
  });
  return (
    <Dialog title="Revoke this key?" onClose={onClose}>
      <p>
        Within five seconds the service refuses every request with the key {name}. A revoked key cannot be made valid
        again.
      </p>
      {revoking.problem && <ProblemNote problem={revoking.problem} />}
      <DialogActions
        back="Keep key"
        onBack={onClose}
        act={['Revoke key', 'Revoking…']}
        action={revoking}
        kind="danger"
      />
    </Dialog>
  );
};
