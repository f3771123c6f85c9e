/** @module The overview's list of tasks for today. */

import { useEffect } from 'preact/hooks';
import { Loading } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';
import { type Need, needs, readNeeds } from './attention.ts';
import { counted } from './counted.ts';

export const AttentionList = () => {
  useEffect(() => void readNeeds(), []);
  const found = needs.value;
  return (
    <section class="card" aria-label="Needs attention today">
      <h2>Needs attention today</h2>
      {found ? <Needs found={found} /> : <Loading what="what needs attention" lines={3} />}
    </section>
  );
};

const Needs = ({ found }: { readonly found: readonly Need[] }) => {
  const open = found.filter((need) => need.counted === undefined || need.counted.count > 0);
  const well = found.filter((need) => need.counted?.count === 0);
  return (
    <>
      {open.length > 0 && (
        <ul class="needs">
          {open.map((need) => (
            <li key={need.title}>
              <Link to={need.to}>
                <strong class="need-count">{need.counted === undefined ? '?' : counted(need.counted)}</strong>{' '}
                {need.counted?.count === 1 ? need.one : need.title}
              </Link>
              <span class="quiet">{need.counted === undefined ? 'Could not be read.' : need.about}</span>
            </li>
          ))}
        </ul>
      )}
      {well.length > 0 && <p class="quiet">None: {well.map(({ title }) => title.toLowerCase()).join(', ')}.</p>}
    </>
  );
};
