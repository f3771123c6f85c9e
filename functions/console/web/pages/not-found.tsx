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
