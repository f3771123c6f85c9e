/** @module The page of one discount code, with its form. Payments and subscriptions keep the terms that they have. */

import { useAction } from '../view/action.ts';
import { Fact, Id, ProblemNote, Time } from '../view/parts.tsx';
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
    read={() => readCode(id)}
    actions={() => <RemoveButton id={id} />}
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
        <Fact name="Code">
          <Id>{code.id}</Id>
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

const RemoveButton = ({ id }: { readonly id: string }) => {
  const removing = useAction(async () => {
    await removeCode(id);
    go('/discounts');
  });
  return (
    <>
      <button type="button" class="danger" disabled={removing.isBusy} onClick={removing.run}>
        Delete code
      </button>
      {removing.problem && <ProblemNote problem={removing.problem} />}
    </>
  );
};
