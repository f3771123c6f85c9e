/** @module The form for a new or changed service key. */

import { useId, useState } from 'preact/hooks';
import { SCOPE_TEXTS } from '../../../../shared/access/scope-texts.ts';
import { SCOPES } from '../../../../shared/access/scopes.ts';
import type { Scope, ServiceKey } from '../api/types.ts';
import { useKeyedAction } from '../view/action.ts';
import { FormActions } from '../view/dialog.tsx';
import { ProblemNote } from '../view/parts.tsx';

/** The fields as entered. */
export interface KeyDraft {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** IP ranges, separated by commas or spaces. */
  readonly addresses: string;
  /** The day of the key's expiry, at 00:00 UTC; empty if the key never expires. */
  readonly end: string;
}

export const NEW_KEY: KeyDraft = { name: '', scopes: [], addresses: '', end: '' };

const DAY_LENGTH = '2026-01-01'.length;

/** The fields of a key, formatted for the form. */
export const draftOf = ({ name, scopes, allowed_ips, expires_at }: ServiceKey): KeyDraft => ({
  name,
  scopes,
  addresses: allowed_ips.join(', '),
  end: expires_at?.slice(0, DAY_LENGTH) ?? '',
});

/** The changed fields of a key, or all fields of a new key. */
export const fieldsOf = (draft: KeyDraft, before: KeyDraft) => ({
  name: draft.name,
  scopes: [...draft.scopes],
  ...(draft.addresses !== before.addresses && { allowed_ips: draft.addresses.split(/[\s,]+/).filter(Boolean) }),
  ...(draft.end !== before.end && { expires_at: draft.end === '' ? null : `${draft.end}T00:00:00Z` }),
});

interface KeyFormProps {
  readonly initial: KeyDraft;
  /** The label of the button that sends the form, and its label while it is busy. */
  readonly act: readonly [name: string, whileBusy: string];
  readonly send: (draft: KeyDraft, key: string) => Promise<void>;
  readonly onClose: () => void;
}

/** The form with its own buttons, for a dialog. It stays open if the API refuses the fields. */
export const KeyForm = ({ initial, act, send, onClose }: KeyFormProps) => {
  const [draft, setDraft] = useState(initial);
  const [isWrong, setWrong] = useState(false);
  const sending = useKeyedAction((key) => send(draft, key));
  const hints = useId();
  const submit = (event: Event): void => {
    event.preventDefault();
    setWrong(draft.scopes.length === 0);
    if (draft.scopes.length > 0) sending.run();
  };
  return (
    <form class="form" onSubmit={submit}>
      <label class="field">
        <span>Name</span>
        <input
          type="text"
          required
          maxLength={100}
          autocomplete="off"
          placeholder="Shop backend"
          value={draft.name}
          onInput={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
        />
      </label>
      <ScopeChoices chosen={draft.scopes} onChange={(scopes) => setDraft({ ...draft, scopes })} />
      {isWrong && (
        <p class="wrong" role="alert">
          Choose at least one scope.
        </p>
      )}
      <label class="field">
        <span>Addresses</span>
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder="203.0.113.0/24"
          value={draft.addresses}
          aria-describedby={`${hints}-addresses`}
          onInput={({ currentTarget }) => setDraft({ ...draft, addresses: currentTarget.value })}
        />
        <small id={`${hints}-addresses`} class="quiet">
          Ranges of addresses that may use the key, separated by commas. If empty, every address may.
        </small>
      </label>
      <label class="field">
        <span>Expires</span>
        <input
          type="date"
          value={draft.end}
          aria-describedby={`${hints}-end`}
          onInput={({ currentTarget }) => setDraft({ ...draft, end: currentTarget.value })}
        />
        <small id={`${hints}-end`} class="quiet">
          The key expires at the start of this UTC day. If empty, it never expires.
        </small>
      </label>
      {sending.problem && <ProblemNote problem={sending.problem} />}
      <FormActions onClose={onClose} act={act} isBusy={sending.isBusy} />
    </form>
  );
};

interface ScopeChoicesProps {
  readonly chosen: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
}

const ScopeChoices = ({ chosen, onChange }: ScopeChoicesProps) => (
  <fieldset class="choices">
    <legend>Scopes</legend>
    {SCOPES.map((scope) => (
      <label key={scope} class="choice">
        <input
          type="checkbox"
          checked={chosen.includes(scope)}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
          }
        />
        <span>
          <code>{scope}</code> <small class="quiet">{SCOPE_TEXTS[scope]}</small>
        </span>
      </label>
    ))}
  </fieldset>
);
