import { count } from '../view/format.ts';
import { needsOf } from './attention.ts';

/** The number of a page's records needing action today. */
export const Badge = ({ page }: { readonly page: string }) => {
  const open = needsOf(page);
  return open === 0 ? null : (
    <>
      <span class="badge" aria-hidden="true">
        {count(open)}
      </span>
      <span class="unseen">
        {count(open)} {open === 1 ? 'needs' : 'need'} attention
      </span>
    </>
  );
};
