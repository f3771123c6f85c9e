import type { Scope } from '../api/types.ts';
import { NotPermitted } from '../view/not-permitted.tsx';
import { PageHead } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';

export const NotFoundPage = () => (
  <>
    <PageHead title="Page not found" tab="Page not found" />
    <p>
      The console has no page at this address. <Link to="/payments">Show the payments</Link>
    </p>
  </>
);

/** Shown to staff who lack the right to see the page's records. */
export const NotPermittedPage = ({ scope }: { readonly scope: Scope }) => (
  <>
    <PageHead title="Not permitted" tab="Not permitted" />
    <NotPermitted what="The records of this page" scope={scope} />
  </>
);
