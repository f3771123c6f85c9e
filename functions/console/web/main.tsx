import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { readClock } from './api/local.ts';
import { readOrganizations } from './api/organizations.ts';
import { readProviders } from './api/providers.ts';
import { session } from './api/session.ts';
import { NotFoundPage } from './pages/not-found.tsx';
import { PaymentPage } from './pages/payment.tsx';
import { PaymentsPage } from './pages/payments.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { Layout, type NavigationItem } from './view/layout.tsx';
import { go, matchPath, place } from './view/route.tsx';
import './styles.css';

/** The pages, by their path below /console. A page with a `name` stands in the navigation, in this order. */
interface Page extends Partial<NavigationItem> {
  readonly path: string;
  readonly show: (parameters: Readonly<Record<string, string>>) => ReturnType<typeof PaymentsPage>;
}

const PAGES: readonly Page[] = [
  { path: '/payments', name: 'Payments', show: () => <PaymentsPage /> },
  { path: '/payments/:id', show: ({ id = '' }) => <PaymentPage id={id} /> },
];

const NAVIGATION = PAGES.flatMap(({ path, name }) => (name === undefined ? [] : [{ path, name }]));

const pageShown = () => {
  for (const page of PAGES) {
    const parameters = matchPath(page.path, place.value.path);
    if (parameters) return page.show(parameters);
  }
  return <NotFoundPage />;
};

const App = () => {
  const isSignedIn = session.value !== undefined;
  const isAtRoot = place.value.path === '/';
  useEffect(() => {
    void readClock().catch(() => undefined);
    void readProviders().catch(() => undefined);
  }, []);
  useEffect(() => {
    if (isSignedIn) void readOrganizations().catch(() => undefined);
  }, [isSignedIn]);
  useEffect(() => {
    if (isSignedIn && isAtRoot) go(NAVIGATION[0]?.path ?? '/', 'replace');
  }, [isSignedIn, isAtRoot]);
  if (!isSignedIn) {
    return (
      <main id="main">
        <SignInPage />
      </main>
    );
  }
  return <Layout items={NAVIGATION}>{isAtRoot ? null : pageShown()}</Layout>;
};

const root = document.getElementById('app');
if (root) render(<App />, root);
