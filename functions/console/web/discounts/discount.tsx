/**
 * @module The page of one discount code, with its form. A change of the code applies only to new payments and
 * subscriptions.
 */

import { useState } from 'preact/hooks';
import { useAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { Fact, ProblemNote, Status, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { go } from '../view/route.tsx';
import { type DiscountCode, readCode, removeCode } from './discount-code.ts';
import { DiscountForm } from './discount-form.tsx';

export const DiscountPage = ({ id }: { readonly id: string }) => (
  <RecordPage
    id={id}
    list={['/discounts', 'Discounts']}
    what="the code"
    title={() => `Code ${id}`}
    tab="Code"
    status={({ isActive }) => <Status of={isActive ? 'active' : 'inactive'} />}
    about={({ name }) => name}
    read={() => readCode(id)}
    actions={() => <DeleteAction id={id} />}
  >
    {(code, follow) => <DiscountView key={code.updatedAt} code={code} onChanged={follow} />}
  </RecordPage>
);

const DiscountView = ({ code, onChanged }: { readonly code: DiscountCode; readonly onChanged: () => void }) => (
  <div class="columns">
    <section class="card" aria-label="Details">
      <h2>Details</h2>
      <dl class="facts">
        <Fact name="Discount">{code.cut}</Fact>
        <Fact name="Duration">{code.duration}</Fact>
        <Fact name="Used">{code.used ?? 'Not counted'}</Fact>
        <Fact name="Changed" isTime={true}>
          <Time at={code.updatedAt} exact={true} />
        </Fact>
      </dl>
      <p class="quiet">A change applies to new payments and subscriptions only.</p>
    </section>
    <section class="card" aria-label="Change">
      <h2>Change</h2>
      <DiscountForm of={code} onDone={onChanged} />
    </section>
  </div>
);

const DeleteAction = ({ id }: { readonly id: string }) => {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        Delete code
      </button>
      {isAsked && <DeleteDialog id={id} onClose={() => setAsked(false)} />}
    </>
  );
};

const DeleteDialog = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const deleting = useAction(async () => {
    await removeCode(id);
    go('/discounts');
  });
  return (
    <Dialog title="Delete this code?" onClose={onClose}>
      <p>
        Payers can no longer enter <code>{id}</code>. Payments and subscriptions that have it keep their price. To stop
        the code for a while only, make it inactive.
      </p>
      {deleting.problem && <ProblemNote problem={deleting.problem} />}
      <DialogActions
        back="Keep code"
        onBack={onClose}
        act={['Delete code', 'Deleting…']}
        action={deleting}
        kind="danger"
      />
    </Dialog>
  );
};
